import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { servedTrainer, tinyService } from '../../../test/support/served-trainer.ts'
import { ask, datumBody, passBody, PatientClient, stepBody } from '../../../test/support/trainer-client.ts'
import type { AdamParams } from '../../core/index.ts'

const open: Awaited<ReturnType<typeof servedTrainer>>[] = []
const serve = async (...options: Parameters<typeof servedTrainer>) => {
  const server = await servedTrainer(...options)
  open.push(server)
  return server
}
afterEach(async () => {
  for (const server of open.splice(0)) await server.close()
})

const data = [datumBody([1, 2, 3, 4])]
const lora = { rank: 4, seed: 1 }
/** Of bodies that came at once under one number one was taken, with its repetitions, and no other. */
function expectOne(
  bodies: readonly unknown[],
  answers: readonly { readonly status: number; readonly body: unknown }[],
) {
  const taken = answers.findIndex(({ status }) => status === 200)
  expect(taken).toBeGreaterThanOrEqual(0)
  answers.forEach((answer, i) => {
    if (bodies[i] === bodies[taken]) expect(answer).toEqual(answers[taken])
    else expect(answer.status).toBe(409)
  })
}

describe('a number of a request', () => {
  it('is given once, also to requests that come at the same time', async () => {
    const { url } = await serve()
    const model = await new PatientClient(url).model(lora, 'tiny')
    const rates = [0.1, 0.2, 0.1, 0.3]
    const answers = await Promise.all(rates.map((rate) => ask(url, '/optim_step', stepBody(model, 1, rate))))
    expectOne(rates, answers)
    expect(answers.find(({ status }) => status !== 200)?.body).toMatchObject({
      code: 'trainer/number-reused',
      field: 'seq_id',
    })
  })

  it('below a step under way is passed', async () => {
    const service = await tinyService()
    let go = () => {}
    const gate = new Promise<void>((resolve) => (go = resolve))
    const { url } = await serve({
      service: {
        ...service,
        async trainer(...given) {
          const trainer = await service.trainer(...given)
          const step = trainer.optimStep.bind(trainer)
          return Object.assign(trainer, { optimStep: (params: AdamParams) => gate.then(() => step(params)) })
        },
      },
    })
    try {
      const client = new PatientClient(url)
      const model = await client.model(lora, 'tiny')
      const step = await client.send('/optim_step', stepBody(model, 4))
      await sleep(300)
      const late = await ask(url, '/forward_backward', passBody(model, 3, data))
      expect(late).toMatchObject({ status: 400, body: { code: 'trainer/number-passed', field: 'seq_id' } })
      expect(await ask(url, '/forward_backward', passBody(model, 5, data))).toMatchObject({ status: 200 })
      go()
      expect(await client.send('/retrieve_future', step)).toMatchObject({ metrics: { step: 1 } })
    } finally {
      go()
      await open.pop()?.close()
      await service.close()
    }
  })

  it('is heeded or refused, whenever it comes: no pass that was taken is done after the step behind it', async () => {
    const { url } = await serve()
    const client = new PatientClient(url)
    const model = await client.model(lora, 'tiny')
    for (let round = 0; round < 24; round++) {
      const pass = passBody(model, 2 * round + 1, data)
      const step = stepBody(model, 2 * round + 2, 0)
      const [stepped, passed] = await Promise.all([
        client.send('/optim_step', step),
        sleep((round % 6) * 2).then(() => ask(url, '/forward_backward', pass)),
      ])
      const { metrics } = await client.send('/retrieve_future', stepped)
      expect((metrics as { grad_norm: number }).grad_norm > 0).toBe(passed.status === 200)
    }
  })
})

describe('the number of a sampling session', () => {
  it('stands for the same weights always', async () => {
    const { url } = await serve()
    const client = new PatientClient(url)
    const model = await client.model(lora, 'tiny')
    const [session_id] = model.split(':')
    const { path } = await client.result('/save_weights', { model_id: model, seq_id: 1, path: 'first' })
    const session = { session_id, sampling_session_seq_id: 0 }
    const ofBase = { ...session, base_model: 'tiny' }
    const bodies = [ofBase, { ...session, model_path: path }, ofBase]
    const made = await Promise.all(bodies.map((body) => ask(url, '/create_sampling_session', body)))
    expectOne(bodies, made)
    expect(made.find(({ status }) => status !== 200)?.body).toMatchObject({
      code: 'trainer/number-reused',
      field: 'sampling_session_seq_id',
    })

    const other = { session_id, sampling_session_seq_id: 1, model_path: path }
    expect(await ask(url, '/create_sampling_session', other)).toMatchObject({ status: 200 })
    await client.result('/forward_backward', passBody(model, 2, data))
    await client.result('/optim_step', stepBody(model, 3))
    // Other weights have this name now.
    await client.result('/save_weights', { model_id: model, seq_id: 4, path: 'first' })
    expect(await ask(url, '/create_sampling_session', other)).toMatchObject({ status: 409 })
  })

  it('is not taken from one that lives by weights that are saved for sampling', async () => {
    const { url } = await serve()
    const client = new PatientClient(url)
    const model = await client.model(lora, 'tiny')
    const [session_id] = model.split(':')
    const saving = (seq_id: number, sampling_session_seq_id: number) => ({
      model_id: model,
      seq_id,
      sampling_session_seq_id,
    })
    await client.send('/create_sampling_session', { session_id, sampling_session_seq_id: 0, base_model: 'tiny' })
    const used = await ask(url, '/save_weights_for_sampler', saving(1, 0))
    expect(used).toMatchObject({ status: 409, body: { field: 'sampling_session_seq_id' } })
    const first = await client.send('/save_weights_for_sampler', saving(2, 1))
    const second = await ask(url, '/save_weights_for_sampler', saving(3, 1))
    expect(await client.send('/retrieve_future', first)).toMatchObject({
      sampling_session_id: `${session_id}:sample:1`,
    })
    // Refused at once, or in its turn if the first still waited.
    const told = second.status === 200 ? await client.send('/retrieve_future', second.body) : second.body
    expect(told).toMatchObject({ code: 'trainer/number-reused' })
    expect(await client.send('/save_weights_for_sampler', saving(2, 1))).toEqual(first)
  })
})
