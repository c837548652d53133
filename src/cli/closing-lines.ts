import pc from 'picocolors'
import { type Brought, verdictInWords } from '../gate/index.ts'
import type { Baseline, RolloutSummary } from '../learn/index.ts'
import { measured, duration, figure, type RivalArithmetic, signed, success } from '../report/index.ts'
import { shellWord, visible } from '../core/index.ts'

/**
 * A few lines: what happened, how sure that is, what it is to be compared with, what it had to beat, and what to do next.
 */
export function closingLines(
  {
    base,
    primed,
    control,
    learned,
    decision,
    brought = [],
    releaseId,
    seconds,
    tokensSampled,
    tokensTrained,
  }: RolloutSummary,
  /** Of the tier that was judged. */
  baselines: readonly Baseline[],
  rivals: readonly RivalArithmetic[],
  { agent, report, store }: { readonly agent: string; readonly report: string; readonly store: string },
): readonly string[] {
  const arms = `base ${measured(base)} → primed ${measured(primed)} → ${pc.bold(`learned ${measured(learned)}`)}`
  const tokens = `${tokensSampled.toLocaleString('en')} tokens sampled, ${tokensTrained.toLocaleString('en')} trained`
  return [
    '',
    `${decision === 'promote' ? pc.green('✓') : pc.yellow('•')} On ${learned.n} held-out tasks: ${arms}${control ? ` (control ${measured(control)})` : ''}.`,
    `  ${duration(seconds)} on this machine, ${tokens}. For comparison: ${baselines.map(({ name, rate }) => `${name} ${success(rate)}`).join(', ') || 'no scripted baselines'}.`,
    ...(rivals.length > 0 ? [`  To beat: ${rivals.map(againstRival).join(', ')}.`] : []),
    ...(brought.length > 0 ? [`  Of that: ${brought.map(partOf).join(', ')}.`] : []),
    `  The gate says ${pc.bold(decision)}; ${releaseId ? `release ${releaseId} serves now. Undo it with: npx ratchet rollback${store}` : 'the previous release still serves.'}`,
    `  Curves, the gate's arithmetic and transcripts before and after: ${pc.underline(report)}`,
    ...(releaseId ? [`  Serve it: npx ratchet serve --agent ${shellWord(agent)}${store}`] : []),
    `  Next: npx ratchet report${store} makes that page of any run again · your own documents and tasks: docs/learn.md`,
  ]
}

/** A Parameter with what it brought, for example `model +0.3 [+0.2, +0.4]: it helps`. */
function partOf({ parameter, difference, ci, verdict }: Brought): string {
  const told = difference === null ? 'not scored' : signed(difference)
  return `${visible(parameter)} ${told} [${ci.map(signed).join(', ')}]: ${verdictInWords[verdict]}`
}

/** A rival with its mean reward and how far the candidate is from it, for example `✓ primed 0.1 (+0.4 [+0.33, +0.46])`. */
function againstRival({ name, means, interval, beaten }: RivalArithmetic): string {
  const sign = beaten ? pc.green('✓') : pc.yellow('✗')
  const range = interval ? ` [${interval.map(signed).join(', ')}]` : ''
  const figures = means
    ? `${figure(means.rival)} (${signed(means.candidate - means.rival)}${range})`
    : 'no score of both'
  return `${sign} ${visible(name).replaceAll('\n', ' ')} ${figures}`
}
