import {
  type CreditContext,
  type Decision,
  DecisionId,
  GroupId,
  Input,
  type Message,
  NodeId,
  type Reward,
  rng,
  type ScoredTrajectory,
  type Span,
  type StopReason,
  TaskId,
  type Trajectory,
  TrajectoryId,
  VersionId,
} from '../../src/core/index.ts'

/** A node as a test writes it: ids are plain strings; no message means a user's empty one. */
export interface NodeSketch {
  readonly id: string
  readonly parent?: string
  readonly message?: Message
  readonly spans?: readonly Span[]
}

export interface DecisionSketch {
  readonly parameter?: string
  readonly kind?: Decision['kind']
  readonly version?: string
  readonly checkpoint?: number | null
  readonly inputs?: readonly (string | { readonly decision: string })[]
  readonly output?: string
}

export interface TrajectorySketch {
  readonly id?: string
  readonly task?: string
  readonly group?: string
  readonly nodes?: readonly NodeSketch[]
  /** Default: one decision of the `weights` Parameter `model`. */
  readonly decisions?: readonly DecisionSketch[]
  readonly stopReason?: StopReason
  readonly finalState?: Trajectory['finalState']
  readonly failure?: Trajectory['failure']
}

/** A trajectory from the few things that a test is about. */
export function trajectoryOf({
  id = 't0',
  task = 'task',
  group = 'g',
  nodes = [{ id: 'n0' }],
  decisions = [{}],
  stopReason = 'done',
  finalState = { state: null, counts: {} },
  failure = null,
}: TrajectorySketch = {}): Trajectory {
  return {
    id: TrajectoryId.parse(id),
    origin: { kind: 'rollout' },
    toolsets: {},
    task: { id: TaskId.parse(task), instruction: 'Do it.', split: 'train' },
    group: GroupId.parse(group),
    attempt: 0,
    seed: 0,
    nodes: nodes.map((node) => ({
      id: NodeId.parse(node.id),
      parent: node.parent === undefined ? null : NodeId.parse(node.parent),
      message: node.message ?? { role: 'user', content: '' },
      spans: [...(node.spans ?? [])],
    })),
    steps: [],
    decisions: decisions.map((decision, i) => ({
      id: DecisionId.parse(`d${i}`),
      step: 0,
      parameter: decision.parameter ?? 'model',
      kind: decision.kind ?? 'weights',
      version: VersionId.parse(decision.version ?? 'v0'),
      generation: 1,
      checkpoint: decision.checkpoint ?? null,
      inputs: (decision.inputs ?? []).map((input) => Input.parse(input)),
      output: decision.output === undefined ? null : NodeId.parse(decision.output),
      propensity: { log: null, reason: 'not-recorded' },
    })),
    stopReason,
    failure,
    finalState,
    startedAt: 0,
    seconds: 0,
  }
}

export const scored = (value: number): Reward => ({ status: 'scored', value, parts: {} })
export const vetoed = (value: number): Reward => ({
  status: 'vetoed',
  value,
  parts: {},
  guard: 'test',
  reason: 'gamed',
})
export const missing: Reward = { status: 'missing', value: null, parts: {}, reason: 'the judge was down' }

/** One attempt a reward, with ids t0, t1 … */
export function attemptsOf(rewards: readonly Reward[], sketch: TrajectorySketch = {}): readonly ScoredTrajectory[] {
  return rewards.map((reward, i) => ({ trajectory: trajectoryOf({ ...sketch, id: `t${i}` }), reward }))
}

/** Tokens as sampled at one temperature; every behaviour log-probability is `logprob`. */
export function sampledSpan(tokens: readonly number[], logprob = -1, temperature = 1, truncated = false): Span {
  return {
    kind: 'sampled',
    tokens: [...tokens],
    behaviourLogprobs: tokens.map(() => logprob),
    logprobs: tokens.map(() => logprob),
    sampling: { temperature, truncated },
  }
}

export const encodedSpan = (tokens: readonly number[]): Span => ({ kind: 'encoded', tokens: [...tokens] })

/** What an estimator sees where a test is not about it. */
export const creditContext: CreditContext = { signals: new Map(), rng: rng('test'), asOf: 0 }
