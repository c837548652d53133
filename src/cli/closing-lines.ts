import pc from 'picocolors'
import type { Baseline, LearnSummary } from '../learn/index.ts'
import { measured } from './progress.ts'
import { duration, success } from './report/format.ts'

/** Five lines: what happened, how sure that is, what it is to be compared with, and what to do next. */
export function closingLines(
  { base, primed, control, learned, decision, releaseId, seconds, tokensSampled, tokensTrained }: LearnSummary,
  /** Of the tier that was judged. */
  baselines: readonly Baseline[],
  { report, store }: { readonly report: string; readonly store: string },
): readonly string[] {
  const arms = `base ${measured(base)} → primed ${measured(primed)} → ${pc.bold(`learned ${measured(learned)}`)}`
  const tokens = `${tokensSampled.toLocaleString('en')} tokens sampled, ${tokensTrained.toLocaleString('en')} trained`
  return [
    '',
    `${decision === 'promote' ? pc.green('✓') : pc.yellow('•')} On ${learned.n} held-out tasks: ${arms}${control ? ` (control ${measured(control)})` : ''}.`,
    `  ${duration(seconds)} on this machine, ${tokens}. Beside it: ${baselines.map(({ name, rate }) => `${name} ${success(rate)}`).join(', ') || 'no scripted baselines'}.`,
    `  The gate says ${pc.bold(decision)}; ${releaseId ? `release ${releaseId} serves now. Undo it with: npx ratchet rollback${store}` : 'what served before goes on serving.'}`,
    `  Curves, the gate's arithmetic and transcripts before and after: ${pc.underline(report)}`,
    `  Next: npx ratchet report${store} makes that page of any run again · your own documents and tasks: docs/learn.md`,
  ]
}
