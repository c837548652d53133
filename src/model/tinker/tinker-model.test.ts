import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { type Fault, openTinkerServer, type SeenRequest } from '../../../test/support/tinker-server.ts'
import { tinyTokenizerFolder } from '../../../test/support/tiny-tokenizer.ts'
import type { Datum, Loss } from '../../core/index.ts'
import type { TinkerEvent } from './events.ts'
import { openTinkerModel } from './open-tinker-model.ts'
import type { TinkerModelOptions } from './options.ts'

const folder = tinyTokenizerFolder()
const lora = { kind: 'lora', rank: 4, alpha: 8 } as const
const datumOf = (first: number, length: number): Datum => {
  const at = (from: number) => Array.from({ length }, (_, i) => from + i)
  return { input: at(first), target: at(first + 1), logprobs: at(0).map(() => -5), advantages: at(1).map((i) => i / 3) }
}

const opened: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.close()
})

async function open(options: Partial<TinkerModelOptions> = {}, fault?: (request: SeenRequest) => Fault | undefined) {
  const events: TinkerEvent[] = []
  const reduction = options.server === 'skyrl-jax' ? 'sequence-mean' : 'sum'
  const server = await openTinkerServer(fault, reduction)
  const onEvent = (event: TinkerEvent) => events.push(event)
  const limits = { baseDelayMs: 2, ...options.limits }
  const model = await openTinkerModel({ url: server.url, baseModel: 'tiny', folder, onEvent, ...options, limits })
  opened.push(server, model.service)
  const asked = (path: string) => server.seen.filter((request) => request.path === path)
  return { server, model, service: model.service, events, asked }
}

describe('passes', () => {
  const data = [datumOf(1, 5), datumOf(20, 2), datumOf(40, 9), datumOf(60, 3), datumOf(80, 1)]

  it.each([
    ['by count', { maxChunkData: 2 }, [2, 2, 1]],
    ['by bytes', { maxChunkBytes: 800 }, [2, 1, 2]],
    ['never below one', { maxChunkBytes: 1 }, [1, 1, 1, 1, 1]],
  ])('are cut %s, numbered in order, and put together again', async (_, limits, sizes) => {
    const [cut, whole] = [await open({ limits }), await open()]
    const [a, b] = [await cut.service.trainer(lora, 1), await whole.service.trainer(lora, 1)]
    const found = await a.forwardBackward(data, { kind: 'cispo' })
    const expected = await b.forwardBackward(data, { kind: 'cispo' })
    expect(found.logprobs).toEqual(expected.logprobs)
    expect(found.loss).toBeCloseTo(expected.loss, 9)
    const step = { learningRate: 0.1 }
    expect((await a.optimStep(step)).gradNorm).toBeCloseTo((await b.optimStep(step)).gradNorm ?? 0, 9)
    const sent = cut.asked('/forward_backward')
    expect(sent.map(({ body }) => body.forward_backward_input.data.length)).toEqual(sizes)
    expect(sent.map(({ body }) => body.seq_id)).toEqual(sizes.map((_, i) => i + 1))
  })

  it.each<Loss>([
    { kind: 'cross_entropy' },
    { kind: 'importance_sampling' },
    { kind: 'ppo', clipLow: 0.5, clipHigh: 2 },
    { kind: 'cispo', clipHigh: Number.POSITIVE_INFINITY },
  ])('mean the same at a server that means over sequences: $kind', async (loss) => {
    const weighted = data.map((datum) => ({ ...datum, weights: datum.input.map((_, i) => (i % 3) / 2) }))
    const results = await Promise.all(
      (['tinker', 'skyrl-jax'] as const).map(async (server) => {
        const { service } = await open({ server })
        const trainer = await service.trainer(lora, 1)
        const { loss: value } = await trainer.forwardBackward(weighted, loss)
        const { gradNorm } = await trainer.optimStep({ learningRate: 0.1, eps: 1e-12 })
        return { value, gradNorm, after: (await trainer.forward(weighted)).flat() }
      }),
    )
    const [sum, mean] = results
    expect(mean!.value).toBeCloseTo(sum!.value, 9)
    expect(mean!.gradNorm).toBeCloseTo(sum!.gradNorm ?? 0, 9)
    mean!.after.forEach((logprob, i) => expect(logprob).toBeCloseTo(sum!.after[i]!, 6))
  })

  it('refuse another temperature than 1, and weights that a server cannot take', async () => {
    const trainer = await (await open()).service.trainer(lora, 1)
    const code = 'model/tinker-unsupported'
    const cold = trainer.forwardBackward(data, { kind: 'ppo', temperature: 0.5 })
    await expect(cold).rejects.toMatchObject({ code })
    await expect(trainer.forward(data, 0.5)).rejects.toMatchObject({ code })
    const negative = [{ ...datumOf(1, 2), weights: [1, -1] }]
    await expect(trainer.forwardBackward(negative, { kind: 'ppo' })).rejects.toMatchObject({ code })
    expect(trainer.capabilities).toMatchObject({ temperatures: false, saves: 'paths' })
    expect(trainer.anchoring).toBeNull()
    expect(trainer.auxiliary).toBeUndefined()
    const beside = [{ ...datumOf(1, 2), auxiliary: { targets: [[1], [1]], weights: [1, 1] } }]
    await expect(trainer.forwardBackward(beside, { kind: 'cross_entropy' })).rejects.toMatchObject({ code })
  })
})

describe('how far log-probabilities of sampler and trainer may differ', () => {
  const telling = (agreement: unknown) => (request: SeenRequest) =>
    request.path === '/get_server_capabilities'
      ? ({ kind: 'lie', say: () => ({ supported_models: [{ model_name: 'tiny', agreement }] }) } as const)
      : undefined
  const bound = async (...how: Parameters<typeof open>) => (await open(...how)).service.sampler.capabilities.agreement

  it('is what the options say, else what the server tells of its model, else not said', async () => {
    expect(await bound()).toBeUndefined()
    expect(await bound({}, telling(0.05))).toBe(0.05)
    expect(await bound({ agreement: 0.02 }, telling(0.05))).toBe(0.02)
  })

  it.each([[3], [0], [-1], ['0.05'], [null]])('is no bound where the server tells %j', async (told) => {
    expect(await bound({}, telling(told))).toBeUndefined()
  })
})

describe('states and weights are paths', () => {
  it('loading takes a new model where the old one was used, and unloads the old one', async () => {
    const { service, server, asked } = await open()
    const trainer = await service.trainer(lora, 1)
    const weights = await trainer.saveWeights()
    const [before] = server.models()
    await trainer.loadWeights(weights)
    expect(server.models()).toHaveLength(1)
    expect(server.models()).not.toContain(before)
    const fresh = await service.trainer(lora, 1)
    await fresh.loadWeights(weights)
    expect(server.models()).toHaveLength(2)
    expect(asked('/load_weights').map(({ body }) => [body.seq_id, body.optimizer])).toEqual([
      [1, false],
      [1, false],
    ])
  })

  it('a state that cannot be loaded leaves everything as it was', async () => {
    const { service, server } = await open()
    const trainer = await service.trainer(lora, 1)
    await trainer.forwardBackward([datumOf(1, 3)], { kind: 'cross_entropy' })
    const gone = trainer.loadState({ at: 'trainer', uri: 'tinker://model_0/weights/gone' })
    await expect(gone).rejects.toMatchObject({ code: 'model/tinker-refused', status: 404 })
    expect(server.models()).toHaveLength(1)
    expect(await trainer.optimStep({ learningRate: 0.1 })).toMatchObject({ step: 1 })
    await expect(trainer.loadState(new Uint8Array(3))).rejects.toMatchObject({ code: 'model/tinker-path' })
    for (const uri of ['file:///etc/passwd', 'tinker://a/sampler_weights/b', 'tinker://a/weights/../b'])
      await expect(trainer.loadState({ at: 'trainer', uri })).rejects.toMatchObject({ code: 'model/tinker-path' })
  })

  it.each(['tinker', 'skyrl-jax'] as const)('what %s keeps for a reference goes with it', async (server) => {
    const { model, service, server: at } = await open({ server })
    const trainer = await service.trainer(lora, 1)
    const [first, second] = [await trainer.publish(), await trainer.publish()]
    const kept = async () =>
      (await Promise.all(at.all().map((id) => model.checkpoints.list(id))))
        .flat()
        .filter(({ type }) => type === 'sampler')
    expect(await kept()).toHaveLength(2)
    await service.sampler.unload(first)
    expect(await kept()).toHaveLength(1)
    await service.sampler.unload(second)
    expect(await kept()).toEqual([])
  })

  it('a reference goes although a server tells of no path, cannot delete, or is gone', async () => {
    const wrong: Fault[] = [{ kind: 'status', status: 404 }, { kind: 'status', status: 500 }, { kind: 'unheard' }]
    for (const fault of wrong) {
      const { service, events } = await open({ limits: { retries: 1 } }, ({ method, path }) =>
        method === 'DELETE' || (fault.kind !== 'status' && path.startsWith('/samplers/')) ? fault : undefined,
      )
      const trainer = await service.trainer(lora, 1)
      await service.sampler.unload(await trainer.publish())
      const left = events.filter(({ type }) => type === 'left')
      expect(left).toHaveLength(fault.kind === 'status' && fault.status === 500 ? 1 : 0)
    }
  })

  it('a state is saved between two steps', async () => {
    const trainer = await (await open()).service.trainer(lora, 1)
    await trainer.forwardBackward([datumOf(1, 3)], { kind: 'cross_entropy' })
    await expect(trainer.saveState()).rejects.toMatchObject({ code: 'model/gradient-pending' })
  })

  it('lists what is kept, deletes it, and says where a server cannot', async () => {
    const cannot = ({ method }: SeenRequest): Fault | undefined =>
      method === 'DELETE' ? { kind: 'status', status: 405 } : undefined
    const { model, service, events } = await open({}, cannot)
    const trainer = await service.trainer(lora, 1)
    const state = await trainer.saveState()
    if (state instanceof Uint8Array) throw new Error('bytes')
    const kept = await model.checkpoints.list(state.uri.split('/')[2]!)
    expect(kept).toMatchObject([{ path: state.uri, type: 'training' }])
    await trainer.discard(state)
    expect(events).toContainEqual(expect.objectContaining({ type: 'left', what: state.uri }))
  })
})

describe('waiting', () => {
  it('a server that pauses for capacity is waited for, visibly, beyond every time limit', async () => {
    const pausing = ({ path, count }: SeenRequest): Fault | undefined => {
      if (path !== '/retrieve_future' || count < 1 || count > 40) return undefined
      return { kind: 'status', status: 408, body: { queue_state: 'paused_capacity', queue_state_reason: 'no GPU' } }
    }
    const { service, events } = await open({ limits: { resultTimeoutMs: 1, retries: 1, baseDelayMs: 1 } }, pausing)
    const trainer = await service.trainer(lora, 1)
    const pass = trainer.forwardBackward([datumOf(1, 3)], { kind: 'cross_entropy' })
    const ended = expect(pass).rejects.toMatchObject({ code: 'model/tinker-cancelled' })
    await expect.poll(() => events.filter(({ type }) => type === 'paused').length).toBeGreaterThan(5)
    expect(events).toContainEqual({
      type: 'paused',
      request: 'forward_backward',
      reason: 'capacity',
      detail: 'no GPU',
      waitedMs: expect.any(Number),
    })
    await service.close()
    await ended
  })

  it('the signal of a model ends everything under way', async () => {
    const stop = new AbortController()
    const { service } = await open({ signal: stop.signal }, ({ path }) =>
      path === '/forward_backward' ? { kind: 'slow', milliseconds: 5_000 } : undefined,
    )
    const trainer = await service.trainer(lora, 1)
    const pass = trainer.forwardBackward([datumOf(1, 3)], { kind: 'cross_entropy' })
    setTimeout(() => stop.abort(), 20)
    await expect(pass).rejects.toMatchObject({ code: 'model/tinker-cancelled' })
  })

  it('so many requests at once, and no more', async () => {
    let [now, most] = [0, 0]
    const { service, asked } = await open({ limits: { concurrency: 3 } }, ({ path }) => {
      if (path === '/asample') most = Math.max(most, ++now)
      if (path === '/retrieve_future') now--
      return undefined
    })
    const sample = () => service.sampler.sample({ prompt: [1], adapter: null, params: { maxTokens: 2 } })
    await Promise.all(Array.from({ length: 12 }, sample))
    expect(asked('/asample')).toHaveLength(12)
    expect(most).toBeLessThanOrEqual(3)
  })

  it('shows that it lives, until it is closed', async () => {
    const { service, asked } = await open({ limits: { heartbeatMs: 10 } })
    await expect.poll(() => asked('/session_heartbeat').length).toBeGreaterThan(2)
    await service.close()
    const count = asked('/session_heartbeat').length
    await sleep(50)
    expect(asked('/session_heartbeat')).toHaveLength(count)
  })
})

it('tells of what the server does not heed, once', async () => {
  const { service, events } = await open({ server: 'skyrl-jax' })
  const trainer = await service.trainer(lora, 1)
  for (let i = 0; i < 2; i++) await trainer.optimStep({ learningRate: 0, gradClipNorm: 1 })
  expect(events.flatMap((event) => (event.type === 'ignored' ? [event.option] : []))).toEqual(['alpha', 'gradClipNorm'])
})

it('trains whole parts of the network, and refuses parts of parts', async () => {
  const { service, asked } = await open()
  await service.trainer({ ...lora, targets: ['q', 'k', 'v', 'o'] }, -1)
  expect(asked('/create_model')[0]?.body.lora_config).toEqual({
    rank: 4,
    seed: 2 ** 31 - 1,
    train_attn: true,
    train_mlp: false,
    train_unembed: false,
  })
  const code = 'model/tinker-unsupported'
  await expect(service.trainer({ ...lora, targets: ['q'] }, 1)).rejects.toMatchObject({ code })
  await expect(service.trainer({ kind: 'full' }, 1)).rejects.toMatchObject({ code })
})

it('ends a sample where its text has a stop string, also beside stop tokens', async () => {
  const { service } = await open()
  const greedy = { maxTokens: 20, temperature: 0 }
  const [whole] = await service.sampler.sample({ prompt: [40], adapter: null, params: greedy })
  // The first tokens are the characters from "!" to "~".
  const place = whole!.tokens.findIndex((token) => token < 94)
  expect(place).toBeGreaterThan(-1)
  const stop = [String.fromCodePoint(33 + whole!.tokens[place]!)]
  const params = { ...greedy, stop, stopTokens: [258] }
  const [stopped] = await service.sampler.sample({ prompt: [40], adapter: null, params })
  expect(stopped).toMatchObject({ stopReason: 'stop', tokens: whole!.tokens.slice(0, place + 1) })
  const hot = service.sampler.sample({ prompt: [40], adapter: null, params: { maxTokens: 1, temperature: 0.7 } })
  await expect(hot).rejects.toMatchObject({ code: 'model/invalid-sample-request' })
})
