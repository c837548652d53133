import pc from 'picocolors'
import type { LearnSummary } from '../learn/index.ts'
import { duration, percent } from './progress.ts'
import type { Baseline } from './report/index.ts'

/** Five lines: what happened, how sure that is, what it is to be compared with, and what to do next. */
export function closingLines(
  { base, primed, control, learned, decision, releaseId, seconds, tokensSampled, tokensTrained }: LearnSummary,
  baselines: readonly Baseline[],
  { report, store }: { readonly report: string; readonly store: string },
): readonly string[] {
  const beside = baselines.filter(({ tier }) => tier === baselines[0]?.tier)
  const arms = `base ${percent(base)} → primed ${percent(primed)} → ${pc.bold(`learned ${percent(learned)}`)}`
  const tokens = `${tokensSampled.toLocaleString('en')} tokens sampled, ${tokensTrained.toLocaleString('en')} trained`
  return [
    '',
    `${decision === 'promote' ? pc.green('✓') : pc.yellow('•')} On ${learned.n} held-out tasks: ${arms}${control ? ` (control ${percent(control)})` : ''}.`,
    `  ${duration(seconds)} on this machine, ${tokens}. Beside it: ${beside.map(({ name, rate }) => `${name} ${((rate.success ?? 0) * 100).toFixed(0)} %`).join(', ') || 'no scripted baselines'}.`,
    `  The gate says ${pc.bold(decision)}; ${releaseId ? `release ${releaseId} serves now. Undo it with: npx ratchet rollback --store ${store}` : 'what served before goes on serving.'}`,
    `  Curves, the gate's arithmetic and transcripts before and after: ${pc.underline(report)}`,
    `  Next: npx ratchet runs --store ${store} · your own documents and tasks: docs/learn.md`,
  ]
}
