import {
  CallId,
  type CanaryArm,
  DecisionId,
  defaultTenant,
  type Json,
  type Message,
  mintVersion,
  NodeId,
  type RecordedCall,
  type Renderer,
  type Signal,
  type Span,
  type Store,
  TaskId,
  type Tenant,
  type Trainer,
  TrajectoryId,
  type TrajectoryNode,
  type VersionId,
} from '../../src/core/index.ts'
import { canaryGate } from '../../src/gate/index.ts'
import {
  canary,
  learn,
  type LearnEvent,
  traffic,
  type TrafficOptions,
  type TrafficSourceOptions,
} from '../../src/learn/index.ts'
import { policyGradient } from '../../src/optimize/weights/index.ts'
import { rubric, signal } from '../../src/reward/index.ts'
import { servedAgent, weights } from '../../src/agent/index.ts'
import { practisedModel, type PractisedModelOptions } from './practised-model.ts'

/** The Version of the agent's weights before it learned anything, on the words model. */
export const initialVersion = mintVersion(
  'model',
  { kind: 'weights', base: 'words', baseHash: 'the words as they are', adapter: null },
  { parents: [], run: null },
)
export const initialWeights = initialVersion.id

/** One answered question of a session, as the gateway records it. */
export interface SessionSketch {
  readonly id: string
  readonly agent?: string
  readonly tenant?: Tenant
  readonly subject?: string | null
  readonly question?: string
  readonly answer?: string
  /** The weights that sampled it. Default: those that the agent began with. */
  readonly version?: VersionId | null
  readonly generation?: number
  /** The learned system prompt that it was answered under. Default: none. */
  readonly prompt?: VersionId
  readonly arm?: CanaryArm
  readonly train?: boolean
  /** When it began; it ends a millisecond later. */
  readonly at?: number
  /** Log-probability of each sampled token; `null`: nobody told them. */
  readonly logprob?: number | null
  readonly temperature?: number
  readonly truncated?: boolean
  /** Whether the tokens are known at all. */
  readonly tokens?: boolean
  readonly retryOf?: string
  /** Tools that the answer could call. */
  readonly offered?: readonly string[]
  /** Another answer in the same place, with the call after this one. */
  readonly call?: string
}

/** What the gateway would commit of a session. */
export function sessionCall(sketch: SessionSketch, renderer: Renderer): RecordedCall {
  const { id, agent = 'reader', tenant = defaultTenant, question = 'What is the word?', answer = 'blue' } = sketch
  const { version = initialWeights, generation = 1, at = 1_000, train = true, arm, call = `${id}-c` } = sketch
  const asked: Message = { role: 'user', content: question }
  const said: Message = { role: 'assistant', content: answer }
  const known = sketch.tokens ?? true
  const tokens = renderer.renderAssistant(said, [])
  const read: Span = { kind: 'encoded', tokens: [...renderer.start([asked], [])] }
  const lp = sketch.logprob === undefined ? 0 : sketch.logprob
  const sampled: Span = {
    kind: 'sampled',
    tokens: [...tokens],
    behaviourLogprobs: lp === null ? null : tokens.map(() => lp),
    logprobs: tokens.map(() => lp ?? 0),
    sampling: { temperature: sketch.temperature ?? 1, truncated: sketch.truncated ?? false },
  }
  const node = (name: string, parent: string | null, message: Message, spans: readonly Span[]): TrajectoryNode => ({
    id: NodeId.parse(name),
    parent: parent === null ? null : NodeId.parse(parent),
    message,
    spans: known ? [...spans] : [],
    at,
  })
  const [question_, answer_] = [`${id}-q`, `${call}-a`]
  const decision = DecisionId.parse('d0')
  return {
    head: {
      id: TrajectoryId.parse(id),
      origin: {
        kind: 'traffic',
        tenant,
        key: 'k',
        session: id,
        agent,
        subject: sketch.subject ?? null,
        train,
        servedBy: arm ? { release: 'r' as never, canary: { id: 'c' as never, arm, propensity: 0.5 } } : null,
      },
      task: { id: TaskId.parse(`traffic:${id}`), instruction: question },
      startedAt: at,
    },
    part: {
      call: CallId.parse(call),
      nodes: [node(question_, null, asked, [read]), node(answer_, question_, said, [sampled])],
      steps: [
        {
          index: 0,
          action: NodeId.parse(answer_),
          observations: [],
          decisions: version === null ? [] : [decision],
          call: {
            id: CallId.parse(call),
            choice: 0,
            model: 'words',
            upstream: 'u',
            servedModel: 'words',
            params: {},
            tools: sketch.offered === undefined ? null : 'offered',
            finish: 'stop',
            usage: null,
            upstreamId: null,
            startedAt: at,
            firstTokenMs: null,
            totalMs: 1,
            retryOf: sketch.retryOf === undefined ? null : CallId.parse(sketch.retryOf),
          },
        },
      ],
      decisions:
        version === null
          ? []
          : [
              {
                id: decision,
                step: 0,
                parameter: 'model',
                kind: 'weights',
                version,
                generation,
                checkpoint: null,
                inputs: [NodeId.parse(question_)],
                output: NodeId.parse(answer_),
                propensity: { log: null, reason: 'not-recorded' },
              },
              ...(sketch.prompt === undefined
                ? []
                : [
                    {
                      id: DecisionId.parse('d1'),
                      step: 0,
                      parameter: 'system',
                      kind: 'text' as const,
                      version: sketch.prompt,
                      generation,
                      checkpoint: null,
                      inputs: [],
                      output: null,
                      propensity: { log: null, reason: 'deterministic' as const },
                    },
                  ]),
            ],
      toolsets:
        sketch.offered === undefined
          ? {}
          : { offered: sketch.offered.map((name) => ({ name, description: name, parameters: { type: 'object' } })) },
      stopReason: 'done',
      failure: null,
      endedAt: at + 1,
    },
    turns: [],
    identity: null,
  }
}

/** Records sessions. */
export async function recordSessions(
  store: Store,
  renderer: Renderer,
  sketches: readonly SessionSketch[],
): Promise<void> {
  for (const sketch of sketches) await store.traffic.append(sessionCall(sketch, renderer))
}

/** What somebody says of a session, or of one of its nodes. */
export function sayOf(trajectory: string, value: Json, more: Partial<Signal> = {}): Signal {
  return {
    tenant: defaultTenant,
    key: `${trajectory}/${more.name ?? 'thumbs'}/${more.node ?? ''}/${JSON.stringify(value)}`,
    trajectory: TrajectoryId.parse(trajectory),
    node: null,
    source: 'user',
    reporter: 'k',
    name: 'thumbs',
    value,
    at: 1_002,
    ...more,
  }
}

/** The reader's program is its owner's. */
export const servedReader = servedAgent({ name: 'reader', parameters: { model: weights({ base: 'words', rank: 4 }) } })

/** Settled sessions of which every other one was liked. */
export async function likedSessions(
  store: Store,
  {
    now,
    prefix,
    count,
    sketch,
  }: {
    readonly now: number
    readonly prefix: string
    readonly count: number
    readonly sketch?: Partial<SessionSketch> | undefined
  },
): Promise<void> {
  const { renderer } = practisedModel().service
  const ended = now - 1_800_000
  for (let i = 0; i < count; i++) {
    const id = `${prefix}${i}`
    await recordSessions(store, renderer, [{ at: ended - 10_000, ...sketch, id }])
    await store.signals.append([sayOf(id, i % 2 === 0, { at: ended })])
  }
}

/** What people demonstrated and edited is imitated, and no answer of the agent's own. */
export const onlyShown = { demonstrated: true, edited: true, accepted: null }

/** What a test changes of a run over the reader's traffic. */
export interface TrafficChanges extends Partial<Omit<TrafficOptions, 'model'>> {
  readonly model?: PractisedModelOptions
  /** Of its source. */
  readonly from?: TrafficSourceOptions
  /** Puts a trainer in the place of the practised one. */
  readonly trainer?: (practised: Trainer) => Trainer
}

/** One run over the reader's traffic, with what it told. */
export async function runTraffic(
  store: Store,
  now: number,
  { model, trainer, schedule, from, ...changes }: TrafficChanges = {},
) {
  const events: LearnEvent[] = []
  const practised = practisedModel(model)
  const { service } = practised
  const summary = await learn(servedReader, {
    model: trainer ? { ...service, trainer: async (...given) => trainer(await service.trainer(...given)) } : service,
    store,
    source: traffic({ agent: 'reader', window: '6h', settle: '10m', reporters: { trusted: ['k'] }, ...from }),
    reward: rubric({ thumbs: signal('thumbs') }, { floor: -1 }),
    optimize: { model: policyGradient() },
    release: canary(canaryGate({ shares: [0.1, 0.5], promote: 'behaviour-only' }), { promotes: 'gate' }),
    schedule: { imitate: onlyShown, epochs: 2, ...schedule },
    onEvent: (event) => events.push(event),
    clock: { now: () => now },
    ...changes,
  })
  return { summary, events, story: events.map(({ type }) => type).join(' '), practised }
}
