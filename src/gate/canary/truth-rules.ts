import type { Audit } from '../../core/index.ts'
import type { RewardRange } from '../reward-range.ts'
import type { Audited } from './audited.ts'
import type { CanaryConfig } from './config.ts'
import type { Overpaid } from './goodhart.ts'
import type { Rule } from './rule.ts'
import { differenceOf, eValue } from './words.ts'

/** What the audit says of sessions: a judge of whom nobody checks it tells no truth. */
export function calledIn({ audit }: Pick<CanaryConfig, 'audit'>): string {
  return audit?.by === 'judge' ? "judge's word" : 'truth'
}

/** As what is higher or lower. */
export function ofCandidate(config: Pick<CanaryConfig, 'audit'>): string {
  return config.audit?.by === 'judge' ? "The judge's word of the candidate" : "The candidate's truth"
}

/** Whether the audit shows the gain. A judge alone shows none, but where its owner says so, or in gates from before. */
export function auditDecides(config: Pick<CanaryConfig, 'audit' | 'promote' | 'besideJudge'>): boolean {
  const { audit, promote, besideJudge } = config
  if (audit === null) return false
  return audit.by !== 'judge' || promote === 'behaviour-only' || besideJudge === 'judge'
}

/** The audited sample shows that the candidate is wrong more often. */
export function harmInTruth(config: Pick<CanaryConfig, 'audit' | 'tolerance'>, truth: Audited): Rule {
  const { tolerance } = config
  const { most, bound } = truth.harm
  return {
    holds: most >= bound,
    action: 'roll-back',
    reason: `${ofCandidate(config)} is lower than the baseline's by more than ${tolerance}: e-value ${eValue(most)}, ${eValue(bound)} shows it. ${truthInWords(truth)}.`,
  }
}

/** Whether the truth is estimated to gain: who is better and liked even more is left to the test of truth. */
const follows = ({ estimate: { difference } }: Pick<Audited, 'estimate'>) => (difference ?? 0) > 0

/** What behaviour pays rose, and the truth did not follow: it is no measure of this candidate any more. */
export function goodhartsLaw(
  { margin, called }: NonNullable<CanaryConfig['goodhart']> & { readonly called: string },
  truth: Pick<Audited, 'gain' | 'estimate'>,
  { most, bound, estimate, rise, paid }: Overpaid,
): Rule {
  const signals = paid.map(({ signal, difference }) => `${signal} by ${difference.toPrecision(2)}`).join(', ')
  const rose = signals === '' ? '' : ` What paid it more: ${signals}.`
  return {
    // Where the truth was shown to gain, it decided.
    holds: most >= bound && (rise ?? 0) > 0 && !follows(truth) && truth.gain.most < truth.gain.bound,
    action: 'roll-back',
    reason: `Goodhart's law: what people do pays the candidate more, and the ${called} does not follow. The reward's gain exceeds ${called === 'truth' ? "the truth's" : `that of the ${called}`} by more than ${margin}: e-value ${eValue(most)}, ${eValue(bound)} shows it. ${differenceOf(estimate)}.${rose}`,
  }
}

/** What speaks of a harm in the audited sample, and does not show it yet. */
export function truthCautions(
  config: Pick<CanaryConfig, 'audit' | 'cautions' | 'caution' | 'tolerance'>,
  truth: Audited,
  range: RewardRange,
): readonly string[] {
  const { cautions, caution, tolerance } = config
  if (cautions === 'reward') return []
  const [called, by] = [calledIn(config), config.audit?.by === 'judge' ? "by the judge's word" : 'in truth']
  const { harm, overpaid, estimate } = truth
  const { difference } = estimate
  const overpays = overpaid !== null && overpaid.now >= Math.log(caution) && !follows(truth)
  return [
    ...(overpays ? [`The e-value of a reward that gains more than the ${called} is ${eValue(overpaid.now)}`] : []),
    ...(harm.now >= Math.log(caution) ? [`The e-value of a harm ${by} is ${eValue(harm.now)}`] : []),
    ...(difference !== null && difference < -tolerance / (range[1] - range[0])
      ? [
          `The estimated difference of ${config.audit?.by === 'judge' ? 'the ' : ''}${called} is ${difference.toPrecision(3)}`,
        ]
      : []),
  ]
}

/** As many truths were told as this canary may cost. */
export function spentLabels({ maxLabels }: Pick<Audit, 'maxLabels'>, truth: Audited): Rule {
  return {
    holds: labelsOf(truth) >= maxLabels,
    action: 'end',
    reason: `${labelsOf(truth)} sessions were audited and showed neither a gain nor a harm. ${truthInWords(truth)}.`,
  }
}

export function truthInWords(truth: Audited): string {
  const { candidate } = truth.labels
  return `${differenceOf(truth.estimate)} over ${labelsOf(truth)} audited sessions, ${candidate} of the candidate`
}

/** Where the audit stands, while it decides nothing. */
export function truthWaiting(config: Pick<CanaryConfig, 'audit'>, truth: Audited): string {
  const called = calledIn(config)
  const { gain, waiting, labels } = truth
  const missing =
    labels.missing > 0 ? ` Of ${labels.missing} it cannot be told, which counts against the candidate.` : ''
  const wait =
    waiting > 0
      ? ` ${waiting} that were drawn wait for ${called === 'truth' ? 'their truth' : `the ${called}`}: sessions after the first of them count later.`
      : ''
  return `${called === 'truth' ? 'Truth' : `The ${called}`}: ${truthInWords(truth)}; the e-value of a gain is ${eValue(gain.now)} of ${eValue(gain.bound)}.${missing}${wait}`
}

/** Nothing that a promotion may rest on is there, and what to do about it. */
export function nothingTrue({ audit }: Pick<CanaryConfig, 'audit'>, shown: boolean): string {
  if (audit?.by === 'judge') {
    return 'A judge alone promotes nothing, as an agent can learn to please it: give the audit "labels", so that people, a verifier or an outcome say what is true of some of the sessions; or take that risk with "promote": "behaviour-only".'
  }
  const seen = shown ? 'What people do shows a gain' : 'What people do may come to show a gain'
  return `${seen}, and alone promotes nothing, as an agent can learn to please: set "audit", so that a sample is judged by truth; or take that risk with "promote": "behaviour-only".`
}

export const judgeOnly =
  'Evidence: behaviour-only. A judge alone said whether the candidate is right more often, and nobody checked it; its owner took that risk.'

export const behaviourOnly =
  'Evidence: behaviour-only. Nobody judged by truth whether the candidate is right more often; its owner took that risk.'

function labelsOf({ labels }: Audited): number {
  return labels.candidate + labels.baseline
}
