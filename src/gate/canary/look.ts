import type { CanaryOutcome, GateDecision, Json } from '../../core/index.ts'
import { GateError } from '../errors.ts'
import { levelInWords } from '../lifetime.ts'
import type { RewardRange } from '../reward-range.ts'
import type { CanaryAction, Rule } from './rule.ts'
import type { Audited } from './audited.ts'
import { basisOf, type CanaryConfig, type CanaryLevel } from './config.ts'
import type { Observation } from './difference-test.ts'
import { evidenceOf } from './evidence.ts'
import { type GuardTest, measure, type Tested } from './measure.ts'
import {
  auditDecides,
  behaviourOnly,
  calledIn,
  goodhartsLaw,
  harmInTruth,
  judgeOnly,
  nothingTrue,
  ofCandidate,
  spentLabels,
  truthCautions,
  truthInWords,
  truthWaiting,
} from './truth-rules.ts'
import { differenceOf, eValue, percent } from './words.ts'

/** What a canary has shown so far. */
export interface CanaryLook {
  /**
   * Judged sessions of both arms and all steps, in an order that depends neither on their arm nor on what they showed, and
   * to which later looks only add: that of their judging, each at a fixed time after it began. Those that are left out must
   * be left out whatever their arm and whatever they showed; give those without evidence by then as `null`. Else the arm
   * that ends faster looks better. One that is recorded too late for its place comes after, as `null`: where that happens
   * often in one arm, the order depends on the arm.
   */
  readonly sessions: readonly CanaryOutcome[]
  /** Index of the share in force, among the gate's `shares`. */
  readonly step: number
  /** Judged candidate sessions that began in this step, and whose arm was drawn. */
  readonly sessionsInStep: number
  /** And those of people who had been drawn before. Default: of all steps. */
  readonly repeatsInStep?: number
  readonly rewardRange: RewardRange
  /** Whether the candidate passed held-out tasks before anybody got it; default: it did not. */
  readonly admitted?: boolean
  /** What the candidate may spend; default: the configuration's `alpha`. */
  readonly level?: CanaryLevel
}

/** What to do with a canary, and why. */
export interface CanaryVerdict {
  readonly action: CanaryAction
  /** The action as a receipt states it: `promote`, `reject` (roll back), `hold` (end), else `need_more_evidence`. */
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
  end: 'hold',
  wait: 'need_more_evidence',
  advance: 'need_more_evidence',
}

/**
 * One look at a canary: the first row that holds. Every test is `differenceAbove`, on all sessions from the
 * canary's first, so that looks may be taken at any time and as often as one likes. `shown` for harm and guards: the
 * e-value reached its bound at some session; for the promotion: it is at its bound now.
 *
 * | # | when | action |
 * |---|---|---|
 * | 1 | the reward, or the truth of the audited sample, is shown to be lower than the baseline's by more than `tolerance`, at `alphaHarm`, or half of it each | roll-back |
 * | 2 | a guard, or the share of missing rewards, is shown to be higher by more than it tolerates, at `alphaGuard` divided by their number | roll-back |
 * | 3 | with an audit, the reward is shown to have gained more than the truth, by over `goodhart.margin`, at `goodhart.alpha`; the reward is estimated to rise, the truth is not, and was never shown to | roll-back |
 * | 4 | what a promotion rests on is shown to be higher by more than `margin`, at `alpha` or the candidate's `level`: the truth of the audited sample, or without an audit the reward; `sessionsPerStep` candidate sessions were judged, every guard was measured in `minCoverage` of them, and nothing speaks of a guard | **promote** |
 * | 5 | `sessionsPerStep` candidate sessions of this step were judged, nothing speaks of harm, and there is a next share below 1 | advance |
 * | 6 | `maxSessions` candidate sessions of this step were judged; with an audit, `maxLabels` truths were told instead, or so many sessions of people who had been drawn before | end |
 * | 7 | otherwise | wait |
 *
 * Without an audit the reward promotes only a candidate that passed held-out tasks before, or where the owner said
 * `behaviour-only`; so does a judge of whom nobody checks what it says, in the place of the truth;
 * beside it the reward shows the gain of one that passed held-out tasks.
 *
 * Something speaks of harm where its e-value is at `caution` or above now, or the estimated difference of rewards, or of
 * the truth of the audited sample, is below −`tolerance`. In row 1 a missing reward is left out, in both arms: what is lost may not show a harm, and losing
 * more than the baseline does is row 2. Where the baseline is shown to lose more, the harm has to show also with each missing
 * reward as the lowest, in both arms: so an excess counts against the arm that shows it. With `missing` `neutral` a gain has
 * to show both ways.
 *
 * A candidate that is no better is promoted with probability at most that, one that is no worse goes back with
 * probability at most `alphaHarm` + `alphaGuard`, whatever the number of looks; with an audit, `goodhart.alpha` more where
 * its reward gains at most `goodhart.margin` more than its truth.
 *
 * A pure function of time linear in the sessions.
 * @throws GateError when a session appears twice, a reward is out of range, the step is none, or the margin or the
 * tolerance is no smaller than the range of rewards.
 */
export function look(
  config: CanaryConfig,
  { sessions, step, sessionsInStep, repeatsInStep: repeatsOfStep, rewardRange, level, admitted = false }: CanaryLook,
): CanaryVerdict {
  checkStep(config, step)
  const measured = measure(config, sessions, rewardRange, level?.alpha)
  const { earned, gain, harm, guards, estimate, truth, candidates, repeats } = measured
  const basis = basisOf(config, admitted)
  const uncovered = guards.filter(({ coverage }) => coverage < config.minCoverage)
  const cautions = [
    ...(harm.now >= Math.log(config.caution) ? [`The e-value of a harm is ${eValue(harm.now)}`] : []),
    ...(estimate.difference !== null && estimate.difference < -config.tolerance
      ? [`The estimated difference of rewards is ${estimate.difference.toPrecision(3)}`]
      : []),
    ...(truth === null ? [] : truthCautions(config, truth, rewardRange)),
  ]
  const guardCautions = guards
    .filter(({ now }) => now >= Math.log(config.caution))
    .map(({ name, now }) => `The e-value of the guard ${name} is ${eValue(now)}`)
  const speaking = [...cautions, ...guardCautions]
  const repeatsInStep = repeatsOfStep ?? repeats
  const early = candidates - repeats < config.sessionsPerStep
  const decided = auditDecides(config) ? truth : null
  const shownBy = decided?.gain ?? gain
  const better = basis !== null && shownBy.now >= shownBy.bound
  const last = step === lastStep(config.shares)
  const difference = `${differenceOf(estimate)} over ${sessions.length} sessions, ${candidates} of the candidate`
  const enough = sessionsInStep >= config.sessionsPerStep

  const rules: Rule[] = [
    ...(truth === null ? [] : [harmInTruth(config, truth)]),
    {
      holds: harm.most >= harm.bound,
      action: 'roll-back',
      reason: `The candidate's reward is lower than the baseline's by more than ${config.tolerance}: e-value ${eValue(harm.most)}, ${eValue(harm.bound)} shows it. ${difference}.`,
    },
    ...guards.map(
      (guard): Rule => ({
        holds: guard.most >= guard.bound,
        action: 'roll-back',
        reason: `The guard ${guard.name} is higher than the baseline's by more than ${toleranceOf(guard)}: e-value ${eValue(guard.most)}, ${eValue(guard.bound)} shows it. ${differenceOf(guard.estimate)}.`,
      }),
    ),
    ...(config.goodhart && truth?.overpaid
      ? [goodhartsLaw({ ...config.goodhart, called: calledIn(config) }, truth, truth.overpaid)]
      : []),
    {
      holds: better && !early && uncovered.length === 0 && guardCautions.length === 0,
      action: 'promote',
      reason: `${decided ? ofCandidate(config) : "The candidate's reward"} is higher than the baseline's by more than ${config.margin}: e-value ${eValue(shownBy.now)}, ${eValue(shownBy.bound)} shows it. ${decided ? truthInWords(decided) : difference}.`,
    },
    {
      holds: !last && enough && speaking.length === 0,
      action: 'advance',
      reason: `${sessionsInStep} candidate sessions judged at share ${share(config, step)} and no sign of harm. ${difference}.`,
    },
    ...(config.audit && truth ? [spentLabels(config.audit, truth)] : []),
    {
      holds: spent(config, truth, sessionsInStep, repeatsInStep),
      action: 'end',
      reason: `${sessionsInStep + repeatsInStep} candidate sessions judged at share ${share(config, step)} and neither gain nor harm is shown. ${difference}.${fewPeople(sessionsInStep, repeatsInStep)}`,
    },
  ]
  const holding = rules.filter(({ holds }) => holds)
  const action = holding[0]?.action ?? 'wait'
  const waiting = [
    ...(better && early ? [`A gain is shown; the guards need ${config.sessionsPerStep} candidate sessions.`] : []),
    ...(better ? uncovered.map(lacking) : []),
    ...(last || !enough || better ? [] : speaking.map((reason) => `${reason}: the ramp waits.`)),
    ...(better ? guardCautions.map((reason) => `${reason}: the promotion waits.`) : []),
    ...(truth ? [truthWaiting(config, truth)] : []),
    `${difference}; the e-value of a gain is ${eValue(gain.now)} of ${eValue(gain.bound)}.`,
    ...(basis === null ? [nothingTrue(config, gain.now >= gain.bound)] : []),
    ...missingInTheWay(config, earned),
    ...(config.excess === 'either' ? missesMore(measured.baselineMisses) : []),
    ...(repeats > 0 ? [repeated(repeats)] : []),
  ]
  return {
    action,
    decision: DECISIONS[action],
    reasons: [
      ...holding.map(({ reason }) => reason),
      ...(level && action === 'promote' ? [levelInWords(level)] : []),
      ...(action === 'promote' && basis === 'behaviour-only' ? [truth ? judgeOnly : behaviourOnly] : []),
      ...(holding[0] && action !== 'end' ? [] : waiting),
    ],
    evidence: { ...evidenceOf(measured, rewardRange, basis), step, share: share(config, step), sessionsInStep },
  }
}

function checkStep({ shares }: CanaryConfig, step: number): void {
  if (Number.isInteger(step) && step >= 0 && step <= lastStep(shares)) return
  throw new GateError({
    code: 'gate/no-such-step',
    message: `The canary is at step ${step}; the gate's shares below 1 are [${shares.filter((share) => share < 1).join(', ')}].`,
    hint: 'Advance by one step at a time, along the shares of the gate that decides.',
  })
}

function lacking({ name, coverage }: GuardTest): string {
  return `The guard ${name} was measured in ${percent(coverage)} of the candidate's sessions only: the promotion waits.`
}

/**
 * Whether a step had all the sessions that it may have. Those of an audit end by their labels, but for people who all were
 * drawn before: of them no label comes.
 */
function spent({ maxSessions }: CanaryConfig, truth: Audited | null, drawn: number, repeats: number): boolean {
  return truth === null ? drawn + repeats >= maxSessions : repeats >= maxSessions && repeats > drawn
}

function fewPeople(drawn: number, repeats: number): string {
  return repeats > drawn
    ? ' Most of them were of people who had been drawn before: take larger "shares", or "assign": "session".'
    : ''
}

function toleranceOf({ tolerance, isRelative }: GuardTest): string {
  return isRelative ? percent(tolerance) : `${tolerance}`
}

function missesMore({ most, bound }: Tested): string[] {
  if (most < bound) return []
  return [
    'The baseline misses more rewards than the candidate: a harm has to show also where each of them counts as the lowest.',
  ]
}

function repeated(repeats: number): string {
  return `${repeats} sessions of the candidate were of people who had been drawn before: they have its arm, and compare nothing.`
}

function missingInTheWay({ missing }: CanaryConfig, earned: readonly Observation[]): string[] {
  const share = earned.filter(({ value }) => value === null).length / Math.max(earned.length, 1)
  if (missing === 'neutral' || share < 0.02) return []
  return [
    `${percent(share)} of the rewards are missing and count against the candidate: a gain that is not larger than that cannot be shown.`,
  ]
}

function share({ shares }: CanaryConfig, step: number): number {
  return shares[step] ?? 1
}
