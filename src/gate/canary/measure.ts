import type { CanaryOutcome } from '../../core/index.ts'
import { GateError } from '../errors.ts'
import { checkRange, type RewardRange } from '../reward-range.ts'
import { round } from '../round.ts'
import { type Audited, audited } from './audited.ts'
import type { CanaryConfig } from './config.ts'
import { differenceAbove, type Evidence, type Observation } from './difference-test.ts'
import { type Estimate, estimateDifference } from './estimate.ts'
import { guardValues, imputed, missingRewards, reflected, rewards } from './quantities.ts'

/** Evidence with the logarithm of the e-value that shows it. */
export interface Tested extends Evidence {
  readonly bound: number
}

export interface GuardTest extends Tested {
  readonly name: string
  readonly tolerance: number
  /** In the guard's own unit. */
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
  return {
    earned,
    gain: tested(imputed(earned, config.missing), scaled('margin', config.margin, span), alpha),
    harm: tested(reflected(earned), scaled('tolerance', config.tolerance, span), alphaHarm),
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

function guardTests(
  config: CanaryConfig,
  sessions: readonly CanaryOutcome[],
  earned: readonly Observation[],
): GuardTest[] {
  const alpha = config.alphaGuard / (1 + Object.keys(config.guards).length)
  const test = (name: string, values: readonly Observation[], tolerance: number, span: number): GuardTest => {
    const candidates = values.filter(({ candidate }) => candidate)
    return {
      ...tested(values, Math.min(tolerance / span, 1), alpha),
      name,
      tolerance,
      estimate: inUnits(estimateDifference(values), span),
      coverage:
        candidates.length === 0 ? 1 : candidates.filter(({ value }) => value !== null).length / candidates.length,
    }
  }
  return [
    ...Object.entries(config.guards).map(([name, guard]) =>
      test(name, guardValues(sessions, name, guard), guard.tolerance, guard.range[1] - guard.range[0]),
    ),
    test('missing', missingRewards(earned), config.missingTolerance, 1),
  ]
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
