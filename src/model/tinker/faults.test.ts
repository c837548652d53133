import { afterEach, describe, expect, it } from 'vitest'
import { type Fault, openTinkerServer, type SeenRequest } from '../../../test/support/tinker-server.ts'
import { tinyTokenizerFolder } from '../../../test/support/tiny-tokenizer.ts'
import type { Datum, Trainer } from '../../core/index.ts'
import type { TinkerEvent } from './events.ts'
import { openTinkerModel } from './open-tinker-model.ts'
import type { TinkerLimits, TinkerModelOptions } from './options.ts'

const folder = tinyTokenizerFolder()
const lora = { kind: 'lora', rank: 4, alpha: 8 } as const
const datum: Datum = { input: [1, 2, 3], target: [2, 3, 4] }
const key = 'tml-very-secret-key'
const quick: Partial<TinkerLimits> = { retries: 3, baseDelayMs: 2, answerTimeoutMs: 300, resultTimeoutMs: 2_000 }

const opened: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.close()
})

/** A server with faults, and a model of it. */
async function open(fault: (request: SeenRequest) => Fault | undefined, options: Partial<TinkerModelOptions> = {}) {
  const events: TinkerEvent[] = []
  const server = await openTinkerServer(fault)
  const given = { url: server.url, apiKey: key, baseModel: 'tiny', folder, ...options }
  const model = await openTinkerModel({
    ...given,
    limits: { ...quick, ...options.limits },
    onEvent: (event) => events.push(event),
  })
  opened.push(server, model.service)
  return { server, model, events, service: model.service }
}

/** One fault, for the first request to a path. */
const once =
  (path: string, fault: Fault) =>
  (request: SeenRequest): Fault | undefined =>
    request.path === path && request.count === 0 ? fault : undefined
const always =
  (path: string, fault: Fault) =>
  ({ path: asked }: SeenRequest): Fault | undefined =>
    asked === path ? fault : undefined

const train = async (trainer: Trainer) => {
  const { loss } = await trainer.forwardBackward([datum], { kind: 'cross_entropy' })
  return { loss, ...(await trainer.optimStep({ learningRate: 0.1 })) }
}
const sound = async () => train(await (await open(() => undefined)).service.trainer(lora, 1))

const passing: readonly (readonly [string, Fault])[] = [
  ['a connection that breaks before the request was heard', { kind: 'unheard' }],
  ['a connection that breaks after it was acted on', { kind: 'lost' }],
  ['an answer that comes too late', { kind: 'slow', milliseconds: 600 }],
  ['408', { kind: 'status', status: 408, body: { queue_state: 'active' } }],
  ['429', { kind: 'status', status: 429, headers: { 'retry-after-ms': '5' } }],
  ['500', { kind: 'status', status: 500, body: { detail: 'oh' } }],
  ['502 of a proxy', { kind: 'status', status: 502 }],
]

describe('a request is acted on once, whatever becomes of its answer', () => {
  const paths = ['/forward_backward', '/optim_step', '/retrieve_future']
  it.each(paths.flatMap((path) => passing.map(([what, fault]) => [path, what, fault] as const)))(
    '%s: %s',
    async (path, _, fault) => {
      const { service, server } = await open(once(path, fault))
      const found = await train(await service.trainer(lora, 1))
      expect(found).toEqual(await sound())
      expect(server.applied).toEqual({ passes: 1, steps: 1 })
    },
  )

  it.each(['/create_session', '/create_model', '/save_weights', '/asample', '/create_sampling_session'])(
    '%s survives 500',
    async (path) => {
      const { service } = await open(once(path, { kind: 'status', status: 500 }))
      const trainer = await service.trainer(lora, 1)
      await trainer.loadState(await trainer.saveState())
      const [one] = await service.sampler.sample({ prompt: [1], adapter: null, params: { maxTokens: 3, seed: 1 } })
      expect(one?.tokens).toHaveLength(3)
    },
  )

  it('410 sends the request itself again, as it was', async () => {
    const gone = (request: SeenRequest): Fault | undefined =>
      request.path === '/retrieve_future' && request.count === 1 ? { kind: 'status', status: 410 } : undefined
    const { service, server } = await open(gone)
    expect(await train(await service.trainer(lora, 1))).toEqual(await sound())
    const sent = server.seen.filter(({ path }) => path === '/forward_backward')
    expect(sent).toHaveLength(2)
    expect(sent[1]?.body).toEqual(sent[0]?.body)
    expect(server.applied.passes).toBe(1)
  })

  it('`try_again` asks on, and a bare 400 of a proxy is asked about again', async () => {
    const { service } = await open(({ path, count }) => {
      if (path !== '/retrieve_future') return undefined
      if (count === 1)
        return { kind: 'lie', say: () => ({ type: 'try_again', request_id: 'x', queue_state: 'active' }) }
      return count === 2 ? { kind: 'status', status: 400 } : undefined
    })
    expect(await train(await service.trainer(lora, 1))).toEqual(await sound())
  })
})

describe('what does not pass ends in words', () => {
  const codeOf = async (
    fault: (request: SeenRequest) => Fault | undefined,
    options: Partial<TinkerModelOptions> = {},
  ) => {
    const { service } = await open(fault, options)
    return service.trainer(lora, 1).then(train)
  }

  it.each<[string, Fault, string]>([
    ['connections that break', { kind: 'unheard' }, 'model/tinker-unreachable'],
    ['500 without end', { kind: 'status', status: 500, body: { detail: 'oh' } }, 'model/tinker-unavailable'],
    ['403', { kind: 'status', status: 403, body: { detail: `no ${key}` } }, 'model/tinker-refused'],
    ['422', { kind: 'status', status: 422, body: { detail: [{ msg: 'bad' }] } }, 'model/tinker-refused'],
    ['no JSON', { kind: 'raw', text: '{"request_id": ' }, 'model/tinker-malformed'],
    ['a number for an id', { kind: 'lie', say: () => ({ request_id: 7 }) }, 'model/tinker-malformed'],
  ])('%s', async (_, fault, code) => {
    const error = await codeOf(always('/optim_step', fault)).catch((error: unknown) => error)
    expect(error).toMatchObject({
      code,
      hint: expect.stringMatching(/\w/),
      message: expect.stringMatching(/optim_step/),
    })
    expect(JSON.stringify(error) + String(error) + String((error as Error).stack)).not.toContain(key)
  })

  it('a failure that the server tells of is told on, in its words', async () => {
    const failing =
      (body: Fault) =>
      ({ path, count }: SeenRequest) =>
        path === '/retrieve_future' && count === 1 ? body : undefined
    const said = { kind: 'status', status: 400, body: { detail: 'Model x not loaded' } } as const
    await expect(codeOf(failing(said))).rejects.toMatchObject({
      code: 'model/tinker-failed',
      message: expect.stringContaining('Model x not loaded'),
    })
    const official = { kind: 'lie', say: () => ({ error: 'your fault', category: 'user' }) } as const
    await expect(codeOf(failing(official))).rejects.toThrow(/your fault/)
  })

  it('a result that never comes', async () => {
    const never = ({ path, count }: SeenRequest): Fault | undefined =>
      path === '/retrieve_future' && count > 0 ? { kind: 'status', status: 408 } : undefined
    const late = codeOf(never, { limits: { resultTimeoutMs: 50 } })
    await expect(late).rejects.toMatchObject({ code: 'model/tinker-timeout' })
  })

  it.each<[string, (answer: Pass) => unknown, RegExp]>([
    ['too few outputs', (answer) => ({ ...answer, loss_fn_outputs: [] }), /none for datum 0/],
    [
      'a wrong length',
      (answer) => (answer.loss_fn_outputs[0]!.logprobs.data.pop(), answer),
      /\[0\]\.logprobs of length 2/,
    ],
    [
      'null for a number',
      (answer) => ((answer.loss_fn_outputs[0]!.logprobs.data[1] = null), answer),
      /logprobs\.data\[1\]/,
    ],
    [
      'a probability above 1',
      (answer) => ((answer.loss_fn_outputs[0]!.logprobs.data[1] = 0.5), answer),
      /logprobs\[1\] = 0\.5/,
    ],
    ['nothing of the kind', () => ({ hello: 'world' }), /loss_fn_outputs/],
  ])('a pass with %s is refused, and its gradient is never applied', async (_, say, words) => {
    const { service, server } = await open(({ path, count }) =>
      path === '/retrieve_future' && count === 1 ? { kind: 'lie', say } : undefined,
    )
    const trainer = await service.trainer(lora, 1)
    await expect(train(trainer)).rejects.toMatchObject({
      code: 'model/tinker-malformed',
      message: expect.stringMatching(words),
    })
    await expect(trainer.optimStep({ learningRate: 1 })).rejects.toMatchObject({ code: 'model/tinker-gradient-lost' })
    expect(server.applied.steps).toBe(0)
  })

  it.each<[string, (answer: Drawn) => unknown, RegExp]>([
    ['too few sequences', () => ({ sequences: [] }), /0 sequences where 1/],
    ['a foreign token', (answer) => ((answer.sequences[0]!.tokens[1] = 4_000), answer), /tokens\[1\] = 4000/],
    [
      'too few log-probabilities',
      (answer) => (answer.sequences[0]!.logprobs.pop(), answer),
      /logprobs of length 2 for 3/,
    ],
    ['more tokens than asked for', (answer) => (answer.sequences[0]!.tokens.push(1), answer), /tokens of length 4/],
    ['a log-probability above 0', (answer) => ((answer.sequences[0]!.logprobs[0] = 3), answer), /logprobs\[0\] = 3/],
    ['another reason to stop', (answer) => ((answer.sequences[0]!.stop_reason = 'tired'), answer), /stop_reason/],
  ])('a sample with %s is refused', async (_, say, words) => {
    const { service } = await open(always('/retrieve_future', { kind: 'lie', say }))
    const sampled = service.sampler.sample({ prompt: [1], adapter: null, params: { maxTokens: 3, seed: 1 } })
    await expect(sampled).rejects.toMatchObject({
      code: 'model/tinker-malformed',
      message: expect.stringMatching(words),
    })
  })

  it("a path of another model's checkpoint is refused", async () => {
    const { service } = await open(({ path, count }) => {
      const say = () => ({ path: 'tinker://somebody/weights/theirs', type: 'save_weights' })
      return path === '/retrieve_future' && count === 1 ? { kind: 'lie', say } : undefined
    })
    const trainer = await service.trainer(lora, 1)
    await expect(trainer.saveWeights()).rejects.toMatchObject({
      code: 'model/tinker-malformed',
      message: expect.stringContaining('tinker://somebody/weights/theirs'),
    })
  })

  it('an answer that is too large', async () => {
    const { service } = await open(always('/asample', { kind: 'raw', text: `"${'x'.repeat(5_000)}"` }), {
      limits: { maxAnswerBytes: 4_096 },
    })
    const sampled = service.sampler.sample({ prompt: [1], adapter: null, params: { maxTokens: 3 } })
    await expect(sampled).rejects.toMatchObject({ code: 'model/tinker-malformed' })
  })

  it('a server that dies in the middle: words at once, and no wait at the end', async () => {
    const { service, server } = await open(() => undefined)
    const trainer = await service.trainer(lora, 1)
    await train(trainer)
    await server.close()
    await expect(train(trainer)).rejects.toMatchObject({ code: 'model/tinker-unreachable' })
    await expect(train(trainer)).rejects.toMatchObject({ code: 'model/tinker-gradient-lost' })
    await trainer.close()
  })

  it('a model that the server does not have', async () => {
    const missing = open(() => undefined, { baseModel: 'huge' })
    await expect(missing).rejects.toMatchObject({
      code: 'model/tinker-base-model',
      hint: expect.stringContaining('tiny'),
    })
  })
})

interface Pass {
  readonly loss_fn_outputs: { logprobs: { data: (number | null)[] } }[]
}
interface Drawn {
  readonly sequences: { tokens: number[]; logprobs: number[]; stop_reason: string }[]
}
