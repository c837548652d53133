import type { CanaryOutcome, GateDecision, Json } from '../../core/index.ts'
import { GateError } from '../errors.ts'
import { checkRange, type RewardRange } from '../reward-range.ts'
import { round } from '../round.ts'
import type { CanaryConfig } from './config.ts'
import { differenceAbove, type Evidence, type Observation } from './difference-test.ts'
import { type Estimate, estimateDifference } from './estimate.ts'
import { guardValues, imputed, missingRewards, reflected, rewards } from './quantities.ts'

/** What a canary has shown so far. */
export interface CanaryLook {
  /**
   * Settled sessions, in the order in which they began, of both arms and all steps. Those that began before the latest
   * one and are left out must be left out whatever their arm and whatever they showed: settle a session at a fixed time
   * after it began, and give those without evidence by then as `null`. Else the arm that ends faster looks better.
   */
  readonly sessions: readonly CanaryOutcome[]
  /** Index of the share in force, among the gate's `shares`. */
  readonly step: number
  /** Settled candidate sessions that began in this step. */
  readonly sessionsInStep: number
  readonly rewardRange: RewardRange
}

export type CanaryAction = 'hold' | 'advance' | 'promote' | 'roll-back' | 'give-up'

/** What to do with a canary, and why. */
export interface CanaryVerdict {
  readonly action: CanaryAction
  /** The action as a receipt states it: `promote`, `reject` (roll back), `hold` (give up), else `need_more_evidence`. */
  readonly decision: GateDecision
  /** One sentence each, the deciding one first. */
  readonly reasons: readonly string[]
  readonly evidence: Readonly<Record<string, Json>>
}

/** The last index of `shares` at which there is a baseline beside the candidate. */
export function lastStep(shares: readonly number[]): number {
  return shares.filter((share) => share < 1).length - 1
}

const DECISIONS: Readonly<Record<CanaryAction, GateDecision>> = {
  promote: 'promote',
  'roll-back': 'reject',
  'give-up': 'hold',
  hold: 'need_more_evidence',
  advance: 'need_more_evidence',
}

/** A row of the truth table. */
interface Rule {
  readonly holds: boolean
  readonly action: CanaryAction
  readonly reason: string
}

/**
 * One look at a canary: the first row that holds. Every test is {@link differenceAbove}, on all sessions from the
 * canary's first, so that looks may be taken at any time and as often as one likes. `shown` for harm and guards: the
 * e-value reached its bound at some session; for the promotion: it is at its bound now.
 *
 * | # | when | action |
 * |---|---|---|
 * | 1 | the reward is shown to be lower than the baseline's by more than `tolerance`, at `alphaHarm` | roll-back |
 * | 2 | a guard, or the share of missing rewards, is shown to be higher by more than it tolerates, at `alphaGuard` divided by their number | roll-back |
 * | 3 | the reward is shown to be higher by more than `margin`, at `alpha`; `sessionsPerStep` candidate sessions have settled, every guard was measured in `minCoverage` of them, and nothing speaks of a guard | **promote** |
 * | 4 | `sessionsPerStep` candidate sessions of this step have settled, nothing speaks of harm, and there is a next share below 1 | advance |
 * | 5 | `maxSessions` candidate sessions of this step have settled | give-up |
 * | 6 | otherwise | hold |
 *
 * Something speaks of harm where its e-value is at `caution` or above now, or the estimated difference of rewards is
 * below −`tolerance`. In row 1 a missing reward is left out, in both arms: what is lost may not show a harm, and losing
 * more than the baseline does is row 2.
 *
 * A candidate that is no better is promoted with probability at most `alpha`, one that is no worse goes back with
 * probability at most `alphaHarm` + `alphaGuard`, whatever the number of looks.
 *
 * A pure function of time linear in the sessions.
 * @throws GateError when a session appears twice, a reward is out of range, the step is none, or the margin or the
 * tolerance is no smaller than the range of rewards.
 */
export function look(config: CanaryConfig, { sessions, step, sessionsInStep, rewardRange }: CanaryLook): CanaryVerdict {
  checkRange(rewardRange)
  checkStep(config, step)
  const span = rewardRange[1] - rewardRange[0]
  const earned = rewards(sessions, rewardRange)
  const gain = tested(imputed(earned, config.missing), scaled('margin', config.margin, span), config.alpha)
  const harm = tested(reflected(earned), scaled('tolerance', config.tolerance, span), config.alphaHarm)
  const guards = guardTests(config, sessions, earned)
  const estimate = inUnits(estimateDifference(earned), span)

  const candidates = sessions.filter(({ arm }) => arm === 'candidate').length
  const uncovered = guards.filter(({ coverage }) => coverage < config.minCoverage)
  const cautions = [
    ...(harm.now >= Math.log(config.caution) ? [`The e-value of a harm is ${eValue(harm.now)}`] : []),
    ...(estimate.difference !== null && estimate.difference < -config.tolerance
      ? [`The estimated difference of rewards is ${estimate.difference.toPrecision(3)}`]
      : []),
  ]
  const guardCautions = guards
    .filter(({ now }) => now >= Math.log(config.caution))
    .map(({ name, now }) => `The e-value of the guard ${name} is ${eValue(now)}`)
  const speaking = [...cautions, ...guardCautions]
  const early = candidates < config.sessionsPerStep
  const better = gain.now >= gain.bound
  const last = step === lastStep(config.shares)
  const difference = `${differenceOf(estimate)} over ${sessions.length} sessions, ${candidates} of the candidate`
  const enough = sessionsInStep >= config.sessionsPerStep

  const rules: Rule[] = [
    {
      holds: harm.most >= harm.bound,
      action: 'roll-back',
      reason: `The candidate's reward is lower than the baseline's by more than ${config.tolerance}: e-value ${eValue(harm.most)}, ${eValue(harm.bound)} shows it. ${difference}.`,
    },
    ...guards.map(
      (guard): Rule => ({
        holds: guard.most >= guard.bound,
        action: 'roll-back',
        reason: `The guard ${guard.name} is higher than the baseline's by more than ${guard.tolerance}: e-value ${eValue(guard.most)}, ${eValue(guard.bound)} shows it. ${differenceOf(guard.estimate)}.`,
      }),
    ),
    {
      holds: better && !early && uncovered.length === 0 && guardCautions.length === 0,
      action: 'promote',
      reason: `The candidate's reward is higher than the baseline's by more than ${config.margin}: e-value ${eValue(gain.now)}, ${eValue(gain.bound)} shows it. ${difference}.`,
    },
    {
      holds: !last && enough && speaking.length === 0,
      action: 'advance',
      reason: `${sessionsInStep} candidate sessions settled at share ${share(config, step)} and nothing speaks of harm. ${difference}.`,
    },
    {
      holds: sessionsInStep >= config.maxSessions,
      action: 'give-up',
      reason: `${sessionsInStep} candidate sessions settled at share ${share(config, step)} and showed neither a gain nor a harm. ${difference}.`,
    },
  ]
  const holding = rules.filter(({ holds }) => holds)
  const action = holding[0]?.action ?? 'hold'
  const waiting = [
    ...(better && early
      ? [`A gain is shown; ${config.sessionsPerStep} candidate sessions are needed, so that guards can see.`]
      : []),
    ...(better ? uncovered.map(lacking) : []),
    ...(last || !enough || better ? [] : speaking.map((reason) => `${reason}: the ramp waits.`)),
    ...(better ? guardCautions.map((reason) => `${reason}: the promotion waits.`) : []),
    `${difference}; the e-value of a gain is ${eValue(gain.now)} of ${eValue(gain.bound)}.`,
    ...missingInTheWay(config, earned),
  ]
  return {
    action,
    decision: DECISIONS[action],
    reasons: [...holding.map(({ reason }) => reason), ...(holding[0] && action !== 'give-up' ? [] : waiting)],
    evidence: {
      test: 'e-values by betting on inverse-propensity-weighted rewards, valid at every look',
      step,
      share: share(config, step),
      sessionsInStep,
      sessions: { candidate: candidates, baseline: sessions.length - candidates },
      compared: gain.sessions,
      missing: missingByArm(earned),
      means: { candidate: meanOf(earned, true, rewardRange), baseline: meanOf(earned, false, rewardRange) },
      difference: estimate.difference,
      interval: estimate.interval && [...estimate.interval],
      gain: shown(gain),
      harm: shown(harm),
      guards: Object.fromEntries(
        guards.map((guard) => [
          guard.name,
          {
            ...shown(guard),
            tolerance: guard.tolerance,
            difference: guard.estimate.difference,
            interval: guard.estimate.interval && [...guard.estimate.interval],
            coverage: round(guard.coverage),
          },
        ]),
      ),
    },
  }
}

/** Evidence with the logarithm of the e-value that shows it. */
interface Tested extends Evidence {
  readonly bound: number
}

function tested(observations: readonly Observation[], margin: number, alpha: number): Tested {
  return { ...differenceAbove(observations, margin), bound: round(-Math.log(alpha)) }
}

interface GuardTest extends Tested {
  readonly name: string
  readonly tolerance: number
  /** In the guard's own unit. */
  readonly estimate: Estimate
  /** Share of candidate sessions in which it was measured; 1 without any. */
  readonly coverage: number
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

function checkStep({ shares }: CanaryConfig, step: number): void {
  if (Number.isInteger(step) && step >= 0 && step <= lastStep(shares)) return
  throw new GateError({
    code: 'gate/no-such-step',
    message: `The canary is at step ${step}; the gate's shares below 1 are [${shares.filter((share) => share < 1).join(', ')}].`,
    hint: 'Advance by one step at a time, along the shares of the gate that decides.',
  })
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

function differenceOf({ difference, interval }: Estimate): string {
  if (difference === null || interval === null) return 'Both arms have not been seen yet'
  const [at, low, high] = [difference, ...interval].map((value) => value.toPrecision(3))
  return `The difference is about ${at}, in [${low}, ${high}]`
}

function lacking({ name, coverage }: GuardTest): string {
  return `The guard ${name} was measured in ${percent(coverage)} of the candidate's sessions only: the promotion waits.`
}

function missingByArm(earned: readonly Observation[]): { readonly baseline: number; readonly candidate: number } {
  const missing = earned.filter(({ value }) => value === null)
  const candidate = missing.filter((o) => o.candidate).length
  return { baseline: missing.length - candidate, candidate }
}

function missingInTheWay({ missing }: CanaryConfig, earned: readonly Observation[]): string[] {
  const share = earned.filter(({ value }) => value === null).length / Math.max(earned.length, 1)
  if (missing === 'neutral' || share < 0.02) return []
  return [
    `${percent(share)} of the rewards are missing and count against the candidate: a gain that is not larger than that cannot be shown.`,
  ]
}

/** In units of the reward; `null` without any. For people: steps with different shares are thrown together. */
function meanOf(earned: readonly Observation[], candidate: boolean, [low, high]: RewardRange): number | null {
  let [sum, count] = [0, 0]
  for (const o of earned) {
    if (o.candidate !== candidate || o.value === null) continue
    sum += o.value
    count++
  }
  return count === 0 ? null : round(low + ((high - low) * sum) / count)
}

function shown({ now, most, bound }: Tested): { readonly [key: string]: Json } {
  return { eValue: finite(now), most: finite(most), bound: finite(bound) }
}

/** JSON has no infinity. */
function finite(log: number): number {
  return round(Math.exp(Math.min(log, 690)))
}

function eValue(log: number): string {
  return Number(finite(log).toPrecision(3)).toString()
}

function share({ shares }: CanaryConfig, step: number): number {
  return shares[step] ?? 1
}

function percent(value: number): string {
  return `${(100 * value).toFixed(1)} %`
}
