import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { anyone, keepingTelemetry, openDoor, rememberingRecorder } from './support/gateway-parts.ts'
import { distinguish, featuresOf, type Labelled } from './support/distinguisher.ts'
import {
  CanaryId,
  type ChatChunk,
  type ChatCompletion,
  type ChatRequest,
  type ChatUpstream,
  ReleaseId,
  rng,
  type ServedBy,
} from '../src/core/index.ts'
import { UpstreamError } from '../src/model/openai/index.ts'
import { createGateway, ServeConfig } from '../src/gateway/index.ts'

type Arm = NonNullable<ServedBy['canary']>['arm']

/** What an upstream of the candidate does that the baseline's does not. */
const leaks = {
  fingerprint: 'its fingerprint',
  id: 'the style of its ids',
  created: 'a clock that is wrong',
  model: 'the name of its adapter',
  tier: 'its service tier',
  unknown: 'fields of its own',
  choice: 'fields of its own in a choice and a message',
  calls: 'the style of ids of calls',
  finish: 'its own words for an end',
  usage: 'a longer prompt, and its cache',
  silent: 'no usage',
  logprobs: 'more about tokens',
  pieces: 'larger pieces',
  shape: 'empty pieces, and a role in each',
  whole: 'a whole answer where a stream is asked for',
  refusal: 'its words for a refusal',
  failure: 'its words for a failure, and when to come back',
  unserved: 'an adapter that cannot be had',
} as const
type Leak = keyof typeof leaks

const words = 'the order left the house on monday and comes by boat to you some day of that week'.split(' ')

/** Speaks alike in both arms, and differs in `of` where it is the candidate's. */
function fakeUpstream(of: ReadonlySet<Leak>): ChatUpstream {
  const lots = rng('words', 0)
  const answer = () => Array.from({ length: 4 + lots.int(8) }, () => words[lots.int(words.length)]).join(' ')
  let count = 0
  return {
    name: 'fake',
    tellsTokens: false,
    servesAdapters: true,
    prepare: () => Promise.resolve(),
    models: () => Promise.resolve([]),
    weights: () => ({ kind: 'weights', base: 'fake', baseHash: 'fake', adapter: null }),
    embeddings: () => Promise.resolve({}),
    close: () => Promise.resolve(),
    chat: ({ request }) => {
      const is = (leak: Leak) => isCandidate(request) && of.has(leak)
      fail(request, is)
      count += 1
      const head = {
        id: is('id') ? `gen-${count}` : `chatcmpl-${count.toString(16).padStart(12, '0')}`,
        created: 1_700_000_000 + (is('created') ? 7_200 : 0),
        model: is('model') ? 'ratchet-0123456789abcdef01234567' : request.model,
        ...(is('tier') ? { service_tier: 'flex' } : {}),
        ...(is('unknown') ? { provider: { region: 'west' }, timing_ms: 12 } : {}),
        system_fingerprint: is('fingerprint') ? 'fp_candidate' : 'fp_baseline',
      }
      const content = answer()
      const entries = content.split(/(?= )/).map((token) => ({
        token,
        logprob: -lots.next(),
        ...(is('logprobs') ? {} : { bytes: [...Buffer.from(token)] }),
        top_logprobs: [],
      }))
      const logprobs = request.logprobs ? { content: entries } : null
      const calls = request.tools
        ? [
            {
              id: is('calls') ? `chatcmpl-tool-${count}` : `call_${count}`,
              type: 'function',
              function: { name: 'find', arguments: JSON.stringify({ text: content }) },
            },
          ]
        : null
      const finish_reason = calls && !is('finish') ? 'tool_calls' : is('finish') ? 'eos' : 'stop'
      const tokens = content.split(' ').length
      const usage = is('silent')
        ? null
        : {
            prompt_tokens: 20 + (is('usage') ? 37 : 0),
            completion_tokens: tokens,
            total_tokens: 20 + tokens + (is('usage') ? 37 : 0),
            prompt_tokens_details: { cached_tokens: is('usage') ? 0 : 16 },
          }
      const own = is('choice') ? { stop_reason: 2, content_filter_results: {} } : {}
      const choice = { index: 0, finish_reason, ...own, logprobs }
      const message = {
        role: 'assistant' as const,
        content: calls ? null : content,
        ...(calls ? { tool_calls: calls } : {}),
        ...(is('choice') ? { annotations: [], refusal: null } : {}),
      }
      const completion: ChatCompletion = {
        object: 'chat.completion',
        ...head,
        choices: [{ ...choice, message }],
        usage,
      }
      if (request.stream !== true || is('whole'))
        return Promise.resolve({ kind: 'whole', completion, upstream: 'fake' })
      return Promise.resolve({ kind: 'stream', chunks: chunksOf(completion, is, entries), upstream: 'fake' })
    },
  }
}

function fail(request: ChatRequest, is: (leak: Leak) => boolean): void {
  const [{ content } = { content: '' }] = request.messages.slice(-1)
  const error = {
    code: 'model/upstream-refused',
    upstream: is('failure') ? 'house-b' : 'house-a',
    hint: 'See its log.',
  }
  if (content === 'refuse') {
    const message = is('refusal') ? 'Your prompt has 512 tokens for ratchet-0123456789ab' : 'Your prompt has 475 tokens'
    const code = is('refusal') ? 'bad_prompt' : 'context_length_exceeded'
    const body = {
      error: { message, type: 'invalid', param: 'messages', code: is('refusal') ? 'context_length_exceeded' : code },
    }
    throw new UpstreamError({ ...error, kind: 'refused', status: 400, message, body })
  }
  if (content === 'fail' && is('unserved')) {
    const message = 'The upstream cannot answer with an adapter: ratchet-0123456789ab'
    throw new UpstreamError({ ...error, code: 'model/adapter-not-served', kind: 'refused', message })
  }
  if (content === 'fail') throw new UpstreamError({ ...error, kind: 'broken', message: `${error.upstream} failed.` })
  if (content === 'busy') {
    const retryAfterSeconds = is('failure') ? 30 : 3
    const body = { error: { message: `${error.upstream} is full` } }
    throw new UpstreamError({ ...error, kind: 'busy', status: 429, message: 'Full.', retryAfterSeconds, body })
  }
}

async function* chunksOf(
  { choices, usage, ...head }: ChatCompletion,
  is: (leak: Leak) => boolean,
  entries: readonly { readonly token: string; readonly logprob: number }[],
): AsyncGenerator<ChatChunk> {
  const [{ message, finish_reason = null, logprobs, ...own } = { message: { role: 'assistant' as const }, index: 0 }] =
    choices
  const chunk = (delta: ChatChunk['choices'][number]['delta'], more: object = {}): ChatChunk => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ ...own, delta: is('shape') ? { role: 'assistant', ...delta } : delta, finish_reason: null, ...more }],
  })
  yield chunk({ role: 'assistant', ...(is('shape') ? {} : { content: '' }) })
  const each = is('pieces') ? 3 : 1
  const [call] = message.tool_calls ?? []
  if (call) {
    yield chunk({ tool_calls: [{ index: 0, ...call, function: { ...call.function, arguments: '' } }] })
    const pieces = call.function.arguments.match(new RegExp(`.{1,${5 * each}}`, 'gs')) ?? []
    for (const text of pieces) yield chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] })
  } else {
    for (let i = 0; i < entries.length; i += each) {
      const some = entries.slice(i, i + each)
      const content = some.map(({ token }) => token).join('')
      yield chunk({ content }, logprobs ? { logprobs: { content: some } } : {})
      if (is('shape')) yield chunk({ content: '' })
    }
  }
  yield chunk({}, { finish_reason })
  if (usage) yield { ...head, object: 'chat.completion.chunk', choices: [], usage }
}

/** The candidate's prompt, which only the upstream reads. */
const learned = 'You answer in one short sentence, and name the day.'
const isCandidate = ({ messages: [first] }: ChatRequest) => first?.role === 'system' && first.content === learned

const user = (content: string, more: object = {}) => ({
  model: 'support',
  messages: [{ role: 'user', content }],
  ...more,
})
const tools = [{ type: 'function', function: { name: 'find', parameters: { type: 'object' } } }]
const usage = { include_usage: true }
/** What a session asks, and by which of the APIs. */
const asks = [
  ['/v1/chat/completions', user('Where is it?', { logprobs: true })],
  ['/v1/chat/completions', user('Find it.', { tools })],
  ['/v1/chat/completions', user('Where is it?', { stream: true, logprobs: true, stream_options: usage })],
  ['/v1/chat/completions', user('Find it.', { stream: true, tools, stream_options: usage })],
  ['/v1/responses', { model: 'support', input: 'Where is it?' }],
  ['/v1/responses', { model: 'support', input: 'Where is it?', stream: true }],
  ['/v1/chat/completions', user('refuse')],
  ['/v1/chat/completions', user('fail')],
  ['/v1/chat/completions', user('busy', { stream: true })],
] as const

/** The words of the answer, and random numbers about them. */
const isAnswer = (path: string) => /\.(content|arguments|delta|text|token|logprob|bytes\[\])$/.test(path)

/** What tells of its session and nothing else, and is drawn anew for each. */
const own = /[0-9a-f]{24}(-[0-9a-f]{24})?/g

/** What a session of an arm shows, beside the answers. */
async function shownIn(gateway: ReturnType<typeof createGateway>, session: string): Promise<Set<string>> {
  const features = new Set<string>()
  for (const [i, [path, body]] of asks.entries()) {
    const headers = { 'content-type': 'application/json', 'ratchet-session': session, 'ratchet-agent': 'support' }
    const request = new Request(`http://localhost${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    const response = await gateway.fetch(request)
    const text = (await response.text()).replaceAll(own, (id) => `<${id.length}>`)
    const told = [...response.headers].map(([name, value]) => [name, value.replaceAll(own, '<id>')])
    const add = (value: unknown, where: string) => {
      for (const feature of featuresOf(value, isAnswer)) features.add(`${i}${where}${feature}`)
    }
    add({ status: response.status, headers: Object.fromEntries(told) }, 'head')
    const events = text.includes('data: ')
      ? text.split('\n\n').flatMap((event) => /^data: (.*)$/m.exec(event)?.[1] ?? [])
      : [text]
    for (const event of events) add(event === '[DONE]' ? event : JSON.parse(event), 'body')
    for (const length of piecesOf(events)) features.add(`${i}piece:${length}`)
  }
  return features
}

/** How long the pieces of a stream are: where it is cut may tell who cut it. */
const piecesOf = (events: readonly string[]) =>
  events.flatMap((event) => {
    const { choices, delta } = (event === '[DONE]' ? {} : JSON.parse(event)) as { choices?: unknown; delta?: unknown }
    const [choice] = (choices ?? []) as {
      delta?: { content?: string; tool_calls?: { function: { arguments: string } }[] }
    }[]
    const text =
      typeof delta === 'string' ? delta : (choice?.delta?.content ?? choice?.delta?.tool_calls?.[0]?.function.arguments)
    return text === undefined ? [] : [text.split(' ').length]
  })

/** Sessions of both arms behind a gateway, each labelled with its arm. */
async function sessions(count: number, differs: readonly Leak[], mended: boolean): Promise<readonly Labelled[]> {
  const recorder = rememberingRecorder()
  const armOf = (session: string | null): Arm => (Number(session?.slice(1)) % 2 === 0 ? 'candidate' : 'baseline')
  recorder.servedTo = ({ session }) => ({
    release: ReleaseId.parse('r_1'),
    canary: { id: CanaryId.parse('c_1'), arm: armOf(session), propensity: 0.5 },
  })
  const candidate = { role: 'system' as const, content: learned }
  recorder.asked = (request, served) =>
    served?.canary?.arm === 'candidate' ? { ...request, messages: [candidate, ...request.messages] } : request
  const begin = recorder.begin.bind(recorder)
  if (!mended) {
    recorder.begin = async (request, context) => {
      const begun = await begin(request, context)
      return begun.kind === 'call' ? { ...begun, record: { ...begun.record, served: null } } : begun
    }
  }
  const gateway = createGateway({
    config: ServeConfig.parse({}),
    upstream: fakeUpstream(new Set(differs)),
    recorder,
    doorkeeper: Object.assign(openDoor(), { caller: anyone }),
    telemetry: keepingTelemetry(),
  })
  const shown: Labelled[] = []
  for (let i = 0; i < count; i++) {
    shown.push({ label: armOf(`s${i}`) === 'candidate', features: await shownIn(gateway, `s${i}`) })
  }
  await gateway.close(0)
  return shown
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_800_000_000_000 })
})
afterEach(() => {
  vi.useRealTimers()
})

describe('which arm of a canary answered', () => {
  const all = Object.keys(leaks) as Leak[]

  it('is told by nothing beside the answer, however its upstreams differ: 500 sessions of each arm', async () => {
    const { accuracy, p } = distinguish(await sessions(1_000, all, true))
    expect(p).toBeGreaterThan(1e-3)
    expect(Math.abs(accuracy - 0.5)).toBeLessThan(0.08)
  })

  // Ids are the record's own for everybody.
  it.each(all.filter((leak) => leak !== 'id'))(
    'would be told by %s, were answers passed on as they came',
    async (leak) => {
      expect(distinguish(await sessions(80, [leak], false)).p, leaks[leak]).toBeLessThan(1e-6)
    },
  )

  it('is told by nothing where nothing differs: the test finds no arm that is not there', async () => {
    expect(distinguish(await sessions(200, [], false)).p).toBeGreaterThan(1e-3)
  })
})
