import {
  type AssistantMessage,
  assistantMessageOf,
  type ChatRequest,
  type Clock,
  type FinishReason,
  KeyId,
  type NodeId,
  type Store,
  type Trajectory,
  type TrajectoryId,
  type TrajectoryNode,
  wireToolCall,
  type WireMessage,
} from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import type { Answer, AnsweredChoice, Begun, CallRecord, EpisodeRecorder, RequestContext } from '../ports.ts'
import { episodeRecorder } from './recorder.ts'
import type { EpisodeRecorderOptions, ForgetfulRecorder } from './recorder-options.ts'
import { redactionOf } from './redaction/index.ts'

/** Times and ids that tests can foresee. */
export class TestClock implements Clock {
  time = 1_700_000_000_000
  now(): number {
    this.time += 1
    return this.time
  }
}

/** 24 digits, one after the other. */
export function countingIds(start = 0): () => string {
  let next = start
  return () => (next++).toString(16).padStart(24, '0')
}

/** A recorder over a store, as the gateway makes one. */
export function recorderOver(store: Store, options: Partial<EpisodeRecorderOptions> = {}): ForgetfulRecorder {
  return episodeRecorder({
    store,
    config: { journalMs: 500, idempotencyHours: 24, train: true },
    mode: 'required',
    redaction: redactionOf([]),
    weightsOf: (upstream, model) => ({ kind: 'weights', base: model, baseHash: upstream, adapter: null }),
    clock: new TestClock(),
    onProblem: (error) => {
      throw error
    },
    exclusive: true,
    ...options,
  })
}

export interface Saying {
  readonly key?: string
  readonly tenant?: string
  readonly session?: string | null
  readonly agent?: string | null
  readonly subject?: string | null
  readonly train?: boolean
  readonly idempotencyKey?: string | null
  readonly retry?: number
}

export function contextOf(saying: Saying = {}): RequestContext {
  const { key = 'k1', tenant = 'acme', session = null, agent = null, subject = null } = saying
  return {
    caller: {
      tenant,
      key: KeyId.parse(key),
      scopes: new Set(['infer']),
      session: null,
      agent: null,
      subject: null,
      train: true,
      limits: { requestsPerMinute: null, concurrency: null, bodyBytes: null },
      authorization: null,
    },
    session,
    agent,
    subject,
    train: saying.train ?? true,
    idempotencyKey: saying.idempotencyKey ?? null,
    retry: saying.retry ?? 0,
    signal: new AbortController().signal,
  }
}

export const says = (role: 'system' | 'user', content: string): WireMessage => ({ role, content })
export const turn = (content: string): WireMessage => ({ role: 'assistant', content })

/** What a model says, as the wire has it. */
export interface Said {
  readonly content?: string | null
  readonly calls?: readonly { readonly id?: string; readonly name: string; readonly arguments: string }[]
  readonly finish?: FinishReason
  readonly tokens?: readonly number[] | null
  readonly logprobs?: readonly number[] | null
  readonly behaviourLogprobs?: readonly number[] | null
  readonly closedTurn?: boolean
}

export function choiceOf(said: string | Said, index = 0): AnsweredChoice {
  const { content = null, calls = [], ...rest } = typeof said === 'string' ? { content: said } : said
  const { finish = calls.length > 0 ? 'tool_calls' : 'stop', tokens = null, closedTurn } = rest as Said
  const { logprobs = tokens && tokens.map(() => -0.5), behaviourLogprobs = logprobs } = rest as Said
  return {
    index,
    message: assistantMessageOf({
      content,
      tool_calls: calls.map(({ id, name, arguments: text }) => ({
        ...(id === undefined ? {} : { id }),
        function: { name, arguments: text },
      })),
    }),
    finish,
    tokens,
    logprobs,
    behaviourLogprobs,
    ...(closedTurn === undefined ? {} : { closedTurn }),
  }
}

export function answerOf(choices: readonly (string | Said)[], more: Partial<Answer> = {}): Answer {
  return {
    choices: choices.map(choiceOf),
    usage: { promptTokens: 3, completionTokens: 2, cachedTokens: null },
    upstream: 'up',
    servedModel: 'm-1',
    upstreamId: 'x',
    promptTokens: null,
    firstTokenAt: null,
    ...more,
  }
}

export function requestOf(messages: readonly WireMessage[], more: Partial<ChatRequest> = {}): ChatRequest {
  return { model: 'm', messages: [...messages], ...more }
}

/** The record of a request that turns out to be a call. */
export async function opened(
  recorder: EpisodeRecorder,
  request: ChatRequest,
  saying: Saying = {},
): Promise<CallRecord> {
  return recordIn(await recorder.begin(request, contextOf(saying)))
}

export function recordIn(begun: Begun): CallRecord {
  if (begun.kind !== 'call') throw new Error(`the request is no call: ${begun.kind}`)
  return begun.record
}

/** One whole call: asked, answered, committed. */
export async function called(
  recorder: EpisodeRecorder,
  request: ChatRequest,
  said: string | Said,
  { answer, ...saying }: Saying & { readonly answer?: Partial<Answer> } = {},
): Promise<{ readonly record: CallRecord; readonly node: NodeId; readonly wire: WireMessage }> {
  const record = await opened(recorder, request, saying)
  const committed = await record.finish({ answer: answerOf([said], answer), stopReason: 'done', failure: null })
  if (!committed.recorded) throw new Error(committed.reason)
  return { record, node: present(committed.nodes[0], 'a node'), wire: wireOf(choiceOf(said).message) }
}

/** An answer as a client sends it back. */
export function wireOf({ content, toolCalls = [] }: AssistantMessage): WireMessage {
  return {
    role: 'assistant',
    content: content === '' ? null : content,
    ...(toolCalls.length > 0 ? { tool_calls: toolCalls.map((call, i) => wireToolCall(call, `call_${i}`)) } : {}),
  }
}

export async function stored(store: Store, trajectory: TrajectoryId): Promise<Trajectory> {
  return present(await store.trajectories.get(trajectory), `trajectory ${trajectory}`).trajectory
}

/** The nodes from the root to this one. */
export function pathIn({ nodes }: Pick<Trajectory, 'nodes'>, id: NodeId | undefined): readonly TrajectoryNode[] {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const path: TrajectoryNode[] = []
  for (let at = id && byId.get(id); at; at = at.parent === null ? undefined : byId.get(at.parent)) path.push(at)
  return path.toReversed()
}

export const tokensAlong = (path: readonly TrajectoryNode[]): readonly number[] =>
  path.flatMap(({ spans }) => spans.flatMap(({ tokens }) => tokens))
