import type { CanaryOutcome } from '../../core/index.ts'
import { GateError } from '../errors.ts'
import type { RewardRange } from '../reward-range.ts'
import type { CanaryConfig, CanaryGuard } from './config.ts'
import type { Observation } from './difference-test.ts'
import { relativeTo } from './relative.ts'

/**
 * Rewards, scaled so that the range is [0, 1]; `null` where missing.
 * @throws GateError when a session appears twice or a reward lies outside the range.
 */
export function rewards(sessions: readonly CanaryOutcome[], [low, high]: RewardRange): Observation[] {
  const seen = new Set<string>()
  return sessions.map((session) => {
    const { trajectory, reward } = session
    if (seen.has(trajectory)) {
      throw new GateError({
        code: 'gate/duplicate-session',
        message: `The session ${trajectory} appears twice among the outcomes.`,
        hint: 'Give one outcome for each session: sessions are the unit of evidence.',
      })
    }
    seen.add(trajectory)
    if (reward !== null && !(reward >= low && reward <= high)) {
      throw new GateError({
        code: 'gate/score-out-of-range',
        message: `The reward ${reward} of session ${trajectory} is outside the range of rewards [${low}, ${high}].`,
        hint: 'Give the floor and the ceiling of the rubric that scored the sessions.',
      })
    }
    return observe(session, reward === null ? null : (reward - low) / (high - low))
  })
}

/** With what a missing reward counts as where a gain is to be shown. */
export function imputed(
  observations: readonly Observation[],
  missing: CanaryConfig['missing'],
): readonly Observation[] {
  if (missing === 'neutral') return observations
  return observations.map((o) => (o.value === null ? { ...o, value: o.candidate ? 0 : 1 } : o))
}

/** With missing rewards as the lowest in both arms: an excess of them counts against the arm that shows it. */
export function floored(observations: readonly Observation[]): readonly Observation[] {
  return observations.map((o) => (o.value === null ? { ...o, value: 0 } : o))
}

/** Higher is worse: what the harm test asks of rewards. */
export function reflected(observations: readonly Observation[]): readonly Observation[] {
  return observations.map((o) => (o.value === null ? o : { ...o, value: 1 - o.value }))
}

/** 1 where the reward is missing. */
export function missingRewards(observations: readonly Observation[]): readonly Observation[] {
  return observations.map((o) => ({ ...o, value: Number(o.value === null) }))
}

/** A guard's metric in its own unit; `null` where it was not measured. */
export function guardMetric(sessions: readonly CanaryOutcome[], name: string): readonly Observation[] {
  return sessions.map((session) => {
    const value = session.guards[name]
    return observe(session, value === undefined || Number.isNaN(value) ? null : value)
  })
}

/** A guard's metric in [0, 1]; `null` where it was not measured. */
export function guardValues(measured: readonly Observation[], guard: CanaryGuard): readonly Observation[] {
  if ('relative' in guard) return relativeTo(measured, guard.relative)
  const [low, high] = guard.range
  return measured.map((o) => ({
    ...o,
    value: o.value === null ? null : (Math.min(Math.max(o.value, low), high) - low) / (high - low),
  }))
}

function observe({ arm, propensity }: CanaryOutcome, value: number | null): Observation {
  const candidate = arm === 'candidate'
  return { candidate, propensity: candidate ? propensity : 1 - propensity, value }
}
