import type { CanaryOutcome } from '../../core/index.ts'
import { GateError } from '../errors.ts'
import { checkRange, type RewardRange } from '../reward-range.ts'
import { round } from '../round.ts'
import { type Audited, audited } from './audited.ts'
import type { CanaryConfig, CanaryGuard, RelativeGuard } from './config.ts'
import { differenceAbove, type DifferenceEvidence, type Observation } from './difference-test.ts'
import { type Estimate, estimateDifference } from './estimate.ts'
import { floored, guardMetric, guardValues, imputed, missingRewards, reflected, rewards } from './quantities.ts'
import { farAbove } from './relative.ts'

/** Evidence with the logarithm of the e-value that shows it. */
export interface Tested extends DifferenceEvidence {
  readonly bound: number
}

export interface GuardTest extends Tested {
  readonly name: string
  /** In the guard's own unit, or as a share of what serves. */
  readonly tolerance: number
  readonly isRelative: boolean
  /** In the guard's own unit; of a tail, of the share of sessions that are far above what is usual. */
  readonly estimate: Estimate
  /** Share of candidate sessions in which it was measured; 1 without any. */
  readonly coverage: number
}

/** All tests of a look. */
export interface Measured {
  /** Rewards, scaled to [0, 1]. */
  readonly earned: readonly Observation[]
  readonly gain: Tested
  readonly harm: Tested
  readonly guards: readonly GuardTest[]
  /** That the baseline misses more rewards than the candidate, whatever is tolerated of that. */
  readonly baselineMisses: Tested
  /** In units of the reward; missing ones are left out. */
  readonly estimate: Estimate
  /** What the audited sample shows; `null` where there is none. */
  readonly truth: Audited | null
  /** Sessions of the candidate, compared or not. */
  readonly candidates: number
  /** Of them those of people who had been drawn before: they compare nothing. */
  readonly repeats: number
}

/**
 * @param alpha at which a gain is to be shown.
 * @throws GateError when a session appears twice, or a reward, the margin or the tolerance does not fit the range.
 */
export function measure(
  config: CanaryConfig,
  sessions: readonly CanaryOutcome[],
  range: RewardRange,
  alpha = config.alpha,
): Measured {
  checkRange(range)
  const span = range[1] - range[0]
  const earned = rewards(sessions, range)
  // Two tests of harm share what one has.
  const alphaHarm = config.audit === null ? config.alphaHarm : config.alphaHarm / 2
  const margin = scaled('margin', config.margin, span)
  const tolerance = scaled('tolerance', config.tolerance, span)
  const baselineMisses = tested(reflected(missingRewards(earned)), 0, guardAlpha(config))
  const shown = tested(imputed(earned, config.missing), margin, alpha)
  const harm = tested(reflected(earned), tolerance, alphaHarm)
  const counts = config.excess === 'either'
  return {
    earned,
    gain: counts && config.missing === 'neutral' ? both(shown, tested(floored(earned), margin, alpha)) : shown,
    harm:
      counts && baselineMisses.most >= baselineMisses.bound
        ? both(harm, tested(reflected(floored(earned)), tolerance, alphaHarm))
        : harm,
    baselineMisses,
    guards: guardTests(config, sessions, earned),
    estimate: inUnits(estimateDifference(earned), span),
    truth: audited(config, sessions, range, alpha),
    candidates: earned.filter(({ candidate }) => candidate).length,
    repeats: earned.filter(({ candidate, propensity }) => candidate && propensity === 1).length,
  }
}

function tested(observations: readonly Observation[], margin: number, alpha: number): Tested {
  return { ...differenceAbove(observations, margin), bound: round(-Math.log(alpha)) }
}

/** What only both show: no more often than either one, whatever the looks. */
function both(one: Tested, other: Tested): Tested {
  return { ...one, now: Math.min(one.now, other.now), most: Math.min(one.most, other.most) }
}

function guardAlpha({ alphaGuard, guards, tails }: CanaryConfig): number {
  const all = Object.values(guards)
  const ofTails = tails ? all.filter((guard) => 'relative' in guard).length : 0
  return alphaGuard / (1 + all.length + ofTails)
}

function guardTests(
  config: CanaryConfig,
  sessions: readonly CanaryOutcome[],
  earned: readonly Observation[],
): GuardTest[] {
  const alpha = guardAlpha(config)
  const test = (name: string, measured: readonly Observation[], guard: CanaryGuard): GuardTest => {
    const values = guardValues(measured, guard)
    const isRelative = 'relative' in guard
    const span = isRelative ? 1 : guard.range[1] - guard.range[0]
    return {
      ...tested(values, isRelative ? 0 : Math.min(guard.tolerance / span, 1), alpha),
      name,
      tolerance: isRelative ? guard.relative : guard.tolerance,
      isRelative,
      estimate: inUnits(estimateDifference(isRelative ? measured : values), span),
      coverage: coverageOf(measured),
    }
  }
  const tail = (name: string, measured: readonly Observation[], { relative }: RelativeGuard): GuardTest => {
    const values = farAbove(measured, relative)
    const estimate = inUnits(estimateDifference(values), 1)
    const tails = { name: `${name}/tail`, tolerance: relative, isRelative: true, estimate }
    return { ...tested(values, 0, alpha), ...tails, coverage: coverageOf(measured) }
  }
  return [
    ...Object.entries(config.guards).flatMap(([name, guard]) => {
      const measured = guardMetric(sessions, name)
      const isWatched = config.tails && 'relative' in guard
      return [test(name, measured, guard), ...(isWatched ? [tail(name, measured, guard)] : [])]
    }),
    test('missing', missingRewards(earned), { tolerance: config.missingTolerance, range: [0, 1] }),
  ]
}

function coverageOf(measured: readonly Observation[]): number {
  const candidates = measured.filter(({ candidate }) => candidate)
  return candidates.length === 0 ? 1 : candidates.filter(({ value }) => value !== null).length / candidates.length
}

/** A margin on the scale on which the range of rewards is [0, 1]. */
function scaled(name: string, margin: number, span: number): number {
  if (Math.abs(margin) < span) return margin / span
  throw new GateError({
    code: 'gate/margin-out-of-range',
    message: `The ${name} ${margin} is not smaller than the range of rewards, which is ${span} wide.`,
    hint: 'Give it in units of the reward.',
  })
}

function inUnits({ difference, interval }: Estimate, span: number): Estimate {
  const scale = (value: number) => round(value * span)
  return {
    difference: difference === null ? null : scale(difference),
    interval: interval && [scale(interval[0]), scale(interval[1])],
  }
}
