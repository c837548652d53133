import { cpSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { servedTrainer } from '../../test/support/served-trainer.ts'
import { ask, datumBody, passBody, PatientClient, stepBody } from '../../test/support/trainer-client.ts'
import { type Door, TrainerRequestError } from './index.ts'

type Served = Awaited<ReturnType<typeof servedTrainer>>

const open: Served[] = []
const serve = async (...options: Parameters<typeof servedTrainer>) => {
  const server = await servedTrainer(...options)
  open.push(server)
  return server
}
afterEach(async () => {
  for (const server of open.splice(0)) await server.close()
})

const tokens = [1, 2, 3, 4, 5]
const lora = { rank: 4, seed: 1 }

/** Two owners, told by their keys. */
const door: Door = async (headers) => {
  const key = headers.get('x-api-key')
  if (key !== 'tml-a' && key !== 'tml-b') {
    throw new TrainerRequestError({
      status: 401,
      code: 'test/no-key',
      message: 'There is no such key.',
      hint: 'Send one.',
    })
  }
  return { owner: key, bodyBytes: null, enter: () => () => {}, leave() {} }
}

const lossOf = async (client: PatientClient, model: string, seq: number) => {
  const { forward_backward_input: forward_input, ...rest } = passBody(model, seq, [datumBody(tokens)])
  return (await client.result('/forward', { ...rest, forward_input })).metrics
}

describe('a request with a number', () => {
  it('is done once, however often it comes, and no other may have its number', async () => {
    const { url } = await serve()
    const client = new PatientClient(url)
    const model = await client.model(lora, 'tiny')
    const pass = passBody(model, 1, [datumBody(tokens)])
    const ids = await Promise.all([1, 2, 3].map(() => client.send('/forward_backward', pass)))
    expect(new Set(ids.map(({ request_id }) => request_id)).size).toBe(1)
    const once = await client.result('/optim_step', stepBody(model, 2))
    expect(await client.result('/optim_step', stepBody(model, 2))).toEqual(once)
    const other = await ask(url, '/optim_step', stepBody(model, 2, 0.5))
    expect(other).toMatchObject({ status: 409, body: { code: 'trainer/number-reused', field: 'seq_id' } })
    await client.result('/optim_step', stepBody(model, 5))
    const late = await ask(url, '/forward_backward', passBody(model, 4, [datumBody(tokens)]))
    expect(late).toMatchObject({ status: 400, body: { code: 'trainer/number-passed', field: 'seq_id' } })
  })

  it('waits for its turn: a pass that comes late is done before the step behind it', async () => {
    const { url } = await serve()
    const client = new PatientClient(url)
    const [model, other] = [await client.model(lora, 'tiny'), await client.model(lora, 'tiny')]
    const passes = (name: string) => [1, 2, 3].map((seq) => passBody(name, seq, [datumBody(tokens)]))
    await Promise.all(
      passes(model)
        .toReversed()
        .map((pass) => client.send('/forward_backward', pass)),
    )
    for (const pass of passes(other)) await client.result('/forward_backward', pass)
    const [together, apart] = [
      await client.result('/optim_step', stepBody(model, 4)),
      await client.result('/optim_step', stepBody(other, 4)),
    ]
    const norm = (answer: Record<string, unknown>) => (answer.metrics as { grad_norm: number }).grad_norm
    expect(norm(together) / norm(apart)).toBeCloseTo(1, 4)
  })
})

describe('a server that is started again', () => {
  it('has every model as it was, and does what it had accepted', async () => {
    const first = await serve()
    const client = new PatientClient(first.url)
    const model = await client.model(lora, 'tiny')
    await client.result('/forward_backward', passBody(model, 1, [datumBody(tokens)]))
    await client.result('/optim_step', stepBody(model, 2))
    const { request_id } = await client.send('/forward_backward', passBody(model, 3, [datumBody(tokens)]))
    // What is on the disk now is what a crash would leave.
    const copy = mkdtempSync(join(tmpdir(), 'ratchet-trainer-copy-'))
    cpSync(first.folder, copy, { recursive: true, filter: (path) => !/\.(?:lock|writer)$/.test(path) })
    const expected = await client.result('/optim_step', stepBody(model, 4))
    const loss = await lossOf(client, model, 5)

    const second = await serve({ folder: copy })
    const again = new PatientClient(second.url)
    expect(await again.send('/retrieve_future', { request_id })).toMatchObject({ loss_fn_outputs: expect.any(Array) })
    expect(await again.result('/optim_step', stepBody(model, 4))).toEqual(expected)
    expect(await lossOf(again, model, 5)).toEqual(loss)
    // A third start makes the model from a shorter history.
    await open.pop()?.close()
    const third = new PatientClient((await serve({ folder: copy })).url)
    expect(await third.result('/optim_step', stepBody(model, 4))).toEqual(expected)
    expect(await lossOf(third, model, 6)).toEqual(loss)
  })

  it('makes models from snapshots, and samplers from their weights', async () => {
    const first = await serve({ snapshotMs: 0 })
    const client = new PatientClient(first.url)
    const model = await client.model(lora, 'tiny')
    for (const step of [0, 1, 2]) {
      await client.send('/forward_backward', passBody(model, 2 * step + 1, [datumBody(tokens)]))
      await client.result('/optim_step', stepBody(model, 2 * step + 2))
    }
    const saved = await client.result('/save_weights_for_sampler', {
      model_id: model,
      seq_id: 7,
      sampling_session_seq_id: 0,
    })
    const sample = (seq_id: number) => ({
      sampling_session_id: saved.sampling_session_id,
      seq_id,
      prompt: { chunks: [{ type: 'encoded_text', tokens: [1, 2] }] },
      sampling_params: { max_tokens: 8, temperature: 0 },
    })
    const [drawn, loss] = [await client.result('/asample', sample(0)), await lossOf(client, model, 8)]
    await open.pop()?.close()
    const again = new PatientClient((await serve({ folder: first.folder })).url)
    expect(await again.result('/asample', sample(1))).toEqual(drawn)
    expect(await lossOf(again, model, 9)).toEqual(loss)
    expect(await again.result('/optim_step', stepBody(model, 10, 0))).toMatchObject({ metrics: { step: 4 } })
  })
})

describe('a key', () => {
  it('reaches its own models, samplers, results and checkpoints only', async () => {
    const { url } = await serve({ door })
    const [mine, theirs] = [new PatientClient(url, 'tml-a'), 'tml-b']
    const model = await mine.model(lora, 'tiny')
    const { path } = await mine.result('/save_weights', { model_id: model, seq_id: 1, path: 'kept' })
    const { request_id } = await mine.send('/forward_backward', passBody(model, 2, [datumBody(tokens)]))
    const { session_id } = (await ask(url, '/create_session', { tags: [] }, theirs)).body
    const load = { session_id, model_seq_id: 0, path, optimizer: true }
    const tries: [string, unknown, string][] = [
      ['/optim_step', stepBody(model, 3), 'trainer/not-found'],
      ['/unload_model', { model_id: model }, 'trainer/not-found'],
      ['/retrieve_future', { request_id }, 'trainer/not-found'],
      ['/load_weights', load, 'trainer/not-found'],
      ['/weights_info', { tinker_path: path }, 'trainer/not-found'],
      ['/create_sampling_session', { session_id, sampling_session_seq_id: 0, model_path: path }, 'trainer/not-found'],
    ]
    for (const [where, body, code] of tries) {
      expect(await ask(url, where, body, theirs)).toMatchObject({
        status: 404,
        body: { code, hint: expect.any(String) },
      })
    }
    expect(await ask(url, '/create_session', {}, 'tml-c')).toMatchObject({ status: 401 })
  })

  it('has as many models and waiting requests as it may', async () => {
    const { url } = await serve({ limits: { models: 1 } })
    await new PatientClient(url).model(lora, 'tiny')
    await expect(new PatientClient(url).model(lora, 'tiny')).rejects.toThrow('trainer/too-many-models')
  })
})

describe('a session', () => {
  it('ends when its client is gone for long, with its models and samplers; checkpoints stay', async () => {
    const { url } = await serve({ sessionMs: 200 })
    const client = new PatientClient(url)
    const model = await client.model(lora, 'tiny')
    const { path } = await client.result('/save_weights', { model_id: model, seq_id: 1, path: 'kept' })
    for (let status = 200; status !== 404; ) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      status = (await ask(url, '/get_info', { model_id: model })).status
    }
    expect(await ask(url, '/weights_info', { tinker_path: path })).toMatchObject({
      status: 200,
      body: { lora_rank: 4 },
    })
  })

  it('ends when its client says so', async () => {
    const { url } = await serve()
    const client = new PatientClient(url)
    const model = await client.model(lora, 'tiny')
    const session_id = model.split(':')[0]
    expect(await client.send('/session_heartbeat', { session_id })).toEqual({ type: 'session_heartbeat' })
    const finish = await fetch(`${url}/api/v1/sessions/${session_id}/finish`, { method: 'POST' })
    expect(finish.status).toBe(204)
    expect(await ask(url, '/get_info', { model_id: model })).toMatchObject({ status: 404 })
  })
})

describe('bad input', () => {
  it('is refused by field and remedy, before anything changes', async () => {
    const { url, problems } = await serve({ limits: { bodyBytes: 20_000, rank: 8 } })
    const client = new PatientClient(url)
    const model = await client.model(lora, 'tiny')
    const before = await lossOf(client, model, 1)
    const { session_id } = await client.send('/create_session', { tags: [] })
    const create = (config: unknown, base_model = 'tiny') => ({ session_id, base_model, lora_config: config })
    const pass = (data: readonly unknown[], loss?: string) => passBody(model, 2, data, loss)
    const policy = (advantages: readonly number[]) => datumBody([1, 2, 3], { logprobs: [0, 0], advantages })
    const cases: [string, unknown, number, string][] = [
      ['/forward_backward', pass([datumBody(tokens)], 'dro'), 400, 'loss_fn'],
      ['/forward_backward', pass([datumBody([1, 259, 3])]), 400, 'data.0'],
      ['/forward_backward', pass([datumBody(tokens), datumBody(tokens, { weights: [1] })]), 400, 'data.1'],
      ['/forward_backward', pass([datumBody(tokens, { mask: [1, 1, 1, 1] })]), 400, 'data.0.loss_fn_inputs.mask'],
      ['/forward_backward', pass([datumBody(tokens)], 'ppo'), 400, 'data.0'],
      [
        '/forward_backward',
        pass([policy([1, Number.NaN])], 'ppo'),
        400,
        'forward_backward_input.data.0.loss_fn_inputs.advantages.data.1',
      ],
      ['/forward_backward', passBody('nobody', 1, []), 404, 'model_id'],
      ['/optim_step', stepBody(model, 2, -1), 400, 'adam_params.learning_rate'],
      ['/create_model', create({ rank: 0 }), 400, 'lora_config.rank'],
      ['/create_model', create({ rank: 9 }), 400, 'lora_config.rank'],
      ['/create_model', create({ rank: 4 }, 'gpt-2'), 404, 'base_model'],
      ['/save_weights', { model_id: model, seq_id: 2, path: '../etc/passwd' }, 400, 'path'],
      ['/load_weights', { model_id: model, seq_id: 2, path: 'tinker://x/weights/y', optimizer: true }, 404, 'path'],
    ]
    for (const [where, body, status, field] of cases) {
      expect(await ask(url, where, body)).toMatchObject({ status, body: { field, hint: expect.any(String) } })
    }
    const large = pass(Array.from({ length: 200 }, () => datumBody(tokens)))
    expect(await ask(url, '/forward_backward', large)).toMatchObject({ status: 413 })
    expect(await lossOf(client, model, 3)).toEqual(before)
    expect(problems).toEqual([])
  })
})
