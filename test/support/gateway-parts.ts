import {
  CallId,
  type ChatCompletion,
  type ChatRequest,
  contentHash,
  type Json,
  KeyId,
  NodeId,
  type Scope,
  type ServedBy,
  TrajectoryId,
} from '../../src/core/index.ts'
import type {
  Begun,
  Caller,
  CallEnd,
  Committed,
  Doorkeeper,
  EpisodeRecorder,
  RequestContext,
  Telemetry,
} from '../../src/gateway/index.ts'

/** A call as a {@link rememberingRecorder} was told of it. */
export interface Remembered {
  readonly request: ChatRequest
  readonly context: RequestContext
  readonly responseId: string
  /** How often it was told of progress. */
  progress: number
  /** How it ended; `null` while it has not. */
  end: CallEnd | null
}

export interface RememberingRecorder extends EpisodeRecorder {
  readonly calls: readonly Remembered[]
  /** What the next commits do before they are through: wait, or throw. */
  commit: () => Promise<Committed>
  /** Completions that repeated idempotency keys get; `in-flight` for a call that is being answered. */
  readonly replays: Map<string, ChatCompletion | 'in-flight'>
  /** What serves a request's session. Default: its agent has no releases. */
  servedTo: (context: RequestContext) => ServedBy | null
  /** What goes on to the upstream. Default: the client's own request. */
  asked: (request: ChatRequest, served: ServedBy | null) => ChatRequest
}

let count = 0
const fresh = () => (count += 1).toString(16).padStart(24, '0')

/** A recorder that keeps in memory what it was told. */
export function rememberingRecorder(): RememberingRecorder {
  const calls: Remembered[] = []
  const recorder: RememberingRecorder = {
    calls,
    replays: new Map(),
    servedTo: () => null,
    asked: (request) => request,
    commit: () => Promise.resolve({ recorded: true, nodes: [NodeId.parse('n_0')] }),
    async begin(request, context): Promise<Begun> {
      const trajectory = TrajectoryId.parse(
        `t_${context.session === null ? fresh() : contentHash(context.session).slice(0, 24)}`,
      )
      const known = recorder.replays.get(context.idempotencyKey ?? '')
      if (known === 'in-flight') return { kind: 'in-flight', retryAfterSeconds: 1 }
      const call = CallId.parse(`c_${fresh()}`)
      const served = recorder.servedTo(context)
      if (known) return { kind: 'replay', completion: known, trajectory, call, served }
      const responseId = `chatcmpl-${trajectory.slice(2)}-${call.slice(2)}`
      const remembered: Remembered = { request, context, responseId, progress: 0, end: null }
      calls.push(remembered)
      return {
        kind: 'call',
        record: {
          trajectory,
          call,
          responseId,
          request: recorder.asked(request, served),
          weights: null,
          history: null,
          served: served && { by: served, generation: 1 },
          fallBack: () => Promise.resolve(false),
          progress: () => {
            remembered.progress += 1
          },
          finish: async (end) => {
            if (remembered.end !== null) throw new Error('a call was finished twice')
            remembered.end = end
            return recorder.commit()
          },
        },
      }
    },
    close: () => Promise.resolve(),
  }
  return recorder
}

export const anyone: Caller = {
  tenant: 'default',
  key: KeyId.parse('open'),
  scopes: new Set<Scope>(['infer', 'signal', 'read']),
  session: null,
  agent: null,
  subject: null,
  train: true,
  limits: { requestsPerMinute: null, concurrency: null, bodyBytes: null },
  authorization: null,
}

/** Lets everyone in, as `caller`, and knows how many are inside. */
export function openDoor(): Doorkeeper & { readonly inside: number; caller: Partial<Caller> } {
  let inside = 0
  const door = {
    caller: {},
    get inside() {
      return inside
    },
    identify: (headers: Headers) =>
      Promise.resolve({ ...anyone, authorization: headers.get('authorization'), ...door.caller }),
    arrive: () => ({
      leave: () => {},
      enter: () => {
        inside += 1
        let left = false
        return () => {
          if (!left) inside -= 1
          left = true
        }
      },
    }),
  }
  return door
}

type Outcome = Parameters<ReturnType<Telemetry['call']>['end']>[0]

/** Keeps how each call ended. */
export function keepingTelemetry(): Telemetry & { readonly ends: Outcome[]; readonly firstTokens: number } {
  const ends: Outcome[] = []
  let firstTokens = 0
  return {
    ends,
    get firstTokens() {
      return firstTokens
    },
    call: () => ({
      firstToken: () => {
        firstTokens += 1
      },
      end: (outcome) => ends.push(outcome),
    }),
    signals: () => {},
  }
}

/** What `fetch` brought, as JSON. */
export const jsonOf = async (response: Response): Promise<Json> => (await response.json()) as Json
