import {
  CallId,
  type Canary,
  type CanaryId,
  type CanaryOutcome,
  type CanaryReceipt,
  mintVersion,
  type PairedReceipt,
  type RecordedCall,
  type ServedBy,
  type Signal,
  TaskId,
  TrajectoryId,
  type Version,
  type VersionSet,
} from '../../src/core/index.ts'
import { CanaryLevel, canaryGate, holdoutHash, pairedGate } from '../../src/gate/index.ts'
import type { Registry } from '../../src/release/index.ts'
import { trafficCall } from './traffic-call.ts'

/** An agent with a model and a prompt, and what may be tried instead. */
export const agent = 'support'

export const model = mintVersion(
  'model',
  { kind: 'weights', base: 'tiny', baseHash: 'tiny-content', adapter: null },
  { parents: [], run: null },
)
export const prompt = (text: string): Version =>
  mintVersion('system', { kind: 'text', text }, { parents: [], run: null })
export const base = prompt('Answer.')
export const setOf = (...versions: readonly Version[]): VersionSet =>
  Object.fromEntries(versions.map(({ parameter, id }) => [parameter, id]))

/** What a gate on held-out tasks says of a candidate that solves `solved` of 60 tasks, of which the baseline solves none. */
export function admissionOf(baseline: VersionSet, candidate: VersionSet, solved = 60): PairedReceipt {
  const outcomes = Array.from({ length: 60 }, (_, i) => ({
    task: TaskId.parse(`task-${i}`),
    baseline: 0,
    candidate: i < solved ? 1 : 0,
  }))
  const use = { holdout: holdoutHash(outcomes.map(({ task }) => task)), use: 1, alpha: 0.03, run: null, at: 1 }
  const gate = pairedGate({ margin: 0.02, alpha: 0.05 })
  return gate.makeReceipt({ agent, baseline, candidate, outcomes, use, rewardRange: [0, 1] })
}

/** A gate that needs few sessions: half of them get the candidate from the start. */
export const quickGate = canaryGate({
  shares: [0.5],
  sessionsPerStep: 10,
  maxSessions: 200,
  promote: 'behaviour-only',
})
/** One that goes through two shares. */
export const rampGate = canaryGate({ ...quickGate.config, shares: [0.2, 0.5] })

/** Sessions of both arms by turns, and what each arm earns. */
export function sessionsOf(
  count: number,
  { baseline, candidate }: { readonly baseline: number; readonly candidate: number },
): CanaryOutcome[] {
  return Array.from({ length: count }, (_, i) => ({
    trajectory: TrajectoryId.parse(`s-${i}`),
    arm: i % 2 === 0 ? 'candidate' : 'baseline',
    propensity: 0.5,
    reward: i % 2 === 0 ? candidate : baseline,
    guards: {},
  }))
}

/** A canary's receipt over 200 sessions; by default, one that promotes. */
export function canaryReceiptOf(
  canary: Canary,
  baseline: VersionSet,
  {
    earned = { baseline: 0, candidate: 1 },
    gate = quickGate,
    of = canary.id,
  }: {
    readonly earned?: Parameters<typeof sessionsOf>[1]
    readonly gate?: typeof quickGate
    readonly of?: CanaryId
  } = {},
): CanaryReceipt {
  const sessions = sessionsOf(200, earned)
  const { agent, candidate, admission, step } = canary
  const { data: level } = CanaryLevel.safeParse(canary.gate.config['level'])
  return gate.makeReceipt({
    ...(level && { level }),
    agent,
    baseline,
    candidate: { ...baseline, ...candidate },
    admission,
    canary: of,
    sessions,
    step,
    sessionsInStep: 100,
    rewardRange: [0, 1],
  })
}

/** One session of an agent, as the gateway recorded it. */
export function sessionCall(
  session: string,
  servedBy: ServedBy,
  { at, train = true }: { readonly at: number; readonly train?: boolean },
): RecordedCall {
  const call = trafficCall(TrajectoryId.parse(session), CallId.parse(`c-${session}`), { tenant: 'default', at })
  return { ...call, head: { ...call.head, origin: { ...call.head.origin, agent, train, servedBy } } }
}

/** What a user said of a session. */
export const thumb = (session: string, value: number, at: number): Signal => ({
  tenant: 'default',
  key: `thumb-${session}`,
  trajectory: TrajectoryId.parse(session),
  node: null,
  source: 'user',
  reporter: 'ann',
  name: 'thumbs',
  value,
  at,
})

/** Lets a Version serve beside what does, by a gate on held-out tasks. */
export async function promoteBeside(registry: Registry, version: Version, at: number) {
  const { versions } = (await registry.current(agent)).release
  const candidate = { ...versions, ...setOf(version) }
  return registry.promote({ receipt: admissionOf(versions, candidate), versions: [version], run: null, at })
}
