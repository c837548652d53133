/**
 * Where the red team's sessions take place: a store in memory, the gateway's own recorder and router over it, and a clock
 * that only this script moves. Whatever is recorded, assigned and judged here is so by the product's own code.
 */
import { KeyId, mintVersion } from '../../dist/core/index.js'
import { declareAgents, servedAgents } from '../../dist/gateway/agents/index.js'
import { ServeConfig } from '../../dist/gateway/config.js'
import { episodeRecorder } from '../../dist/gateway/episode/index.js'
import { redactionOf } from '../../dist/gateway/episode/redaction/index.js'
import { openReleaseRouter, Registry } from '../../dist/release/index.js'
import { openMemoryStore } from '../../dist/store/index.js'
import { callsOverHttp } from './over-http.mjs'

export const AGENT = 'desk'
const MODEL = 'm'
/** The key of the application, whose people are real. */
export const APPLICATION = 'k_application'
const SYSTEM = 'Answer questions about orders.'

const weightsOf = (upstream, model) => ({ kind: 'weights', base: model, baseHash: upstream, adapter: null })
/** Candidates differ by their prompt: an empty model behind it answers as the script says. */
const CANDIDATE = mintVersion('system', { kind: 'text', text: 'Please people.' }, { parents: [], run: null })

/** Ids that are the same in every run of a seed. */
function countedIds() {
  let next = 0
  return () => (next++).toString(16).padStart(24, '0')
}

/**
 * A place without sessions. `close` it.
 * @param http whether calls go through the gateway's routes, and not to its recorder at once.
 */
export async function openPlace({ http = false } = {}) {
  const store = await openMemoryStore()
  const clock = { time: Date.UTC(2026, 0, 5), now: () => clock.time }
  const upstream = { weights: (model) => weightsOf('scripted', model) }
  const config = ServeConfig.parse({ agents: [{ name: AGENT, model: MODEL, system: SYSTEM }] })
  const agents = await declareAgents({ config, store, upstream })
  // It is asked anew after each look, and never by a timer.
  const router = await openReleaseRouter({ store, agents: [AGENT], everyMs: 1e9, clock })
  const recorder = episodeRecorder({
    store,
    config: { journalMs: 1e9, idempotencyHours: 24, train: true },
    mode: 'required',
    redaction: redactionOf([]),
    agents: servedAgents(agents, router, upstream),
    weightsOf,
    clock,
    exclusive: true,
    ids: countedIds(),
    onProblem: (error) => {
      throw error
    },
  })
  const parts = { recorder, clock, caller: CALLER, agent: AGENT, candidateText: CANDIDATE.value.text, weightsOf }
  const make = http ? callsOverHttp(parts) : callsOf(parts)
  return {
    store,
    clock,
    router,
    /**
     * One call.
     * @param answer gives what the upstream says, once it is known which arm the session is in: `{ message, seconds, tokens,
     * promptTokens }`.
     * @returns `{ arm, trajectory, said }`: `said` is what `answer` gave.
     */
    call: ({ messages, session, person }, answer) => make({ request: requestOf(messages), session, person }, answer),
    registry: new Registry(store),
    candidate: [CANDIDATE],
    close: async () => {
      await recorder.close()
      await router.close()
      await store.close()
    },
  }
}

const requestOf = (messages) => ({
  model: MODEL,
  messages: [{ role: 'system', content: SYSTEM }, ...messages],
  tools: TOOLS,
})

/** Calls that go to the recorder at once. */
function callsOf({ recorder, clock }) {
  return async ({ request, session, person }, answer) => {
    const begun = await recorder.begin(request, contextOf(session, person))
    if (begun.kind !== 'call') throw new Error(`the request is no call: ${begun.kind}`)
    const { record } = begun
    const arm = record.served?.by.canary?.arm ?? null
    const said = answer(arm)
    clock.time += Math.round(1000 * said.seconds)
    const { toolCalls = [] } = said.message
    await record.finish({ answer: answerOf(said, toolCalls.length > 0), stopReason: 'done', failure: null })
    return { arm, trajectory: record.trajectory, said }
  }
}

/** A thumb, as the application reports it. */
export async function report({ store, clock }, { trajectory, person, value }) {
  const now = clock.now()
  const thumb = {
    tenant: 'default',
    key: `thumb-${trajectory}-${now}`,
    trajectory,
    node: null,
    source: 'user',
    reporter: `${APPLICATION}:${person}`,
    name: 'thumbs',
    value,
    at: now,
  }
  await store.signals.append([thumb], { caps: CAPS, now })
}
const CAPS = { perTrajectory: 100, perTrajectoryOfKey: 1_000, perDay: 1e9 }

/** What the application lets its agent do. */
const TOOLS = [
  {
    type: 'function',
    function: {
      name: 'look_up',
      description: 'Looks an order up.',
      parameters: { type: 'object', properties: { order: { type: 'string' } } },
    },
  },
]

const answerOf = ({ message, tokens, promptTokens }, calls) => ({
  choices: [
    {
      index: 0,
      message: { role: 'assistant', ...message },
      finish: calls ? 'tool_calls' : 'stop',
      tokens: null,
      logprobs: null,
      behaviourLogprobs: null,
    },
  ],
  usage: { promptTokens, completionTokens: tokens, cachedTokens: null },
  upstream: 'scripted',
  servedModel: MODEL,
  upstreamId: null,
  promptTokens: null,
  firstTokenAt: null,
})

const CALLER = {
  tenant: 'default',
  key: KeyId.parse(APPLICATION),
  scopes: new Set(['infer']),
  session: null,
  agent: null,
  subject: null,
  train: true,
  limits: { requestsPerMinute: null, concurrency: null, bodyBytes: null },
  authorization: null,
}
const SIGNAL = new AbortController().signal
const contextOf = (session, person) => ({
  caller: CALLER,
  session,
  agent: AGENT,
  subject: person,
  train: true,
  idempotencyKey: null,
  retry: 0,
  signal: SIGNAL,
})
