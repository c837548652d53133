import type { DepositRule, TextCritique } from '../core/index.ts'

/** What decisions of a `text` Parameter deposit: one critique each. */
export const critiques: DepositRule<'text', TextCritique> = {
  kind: 'text',
  deposit: (_, decided) => decided.map(({ credit: { advantage, critique = null } }) => ({ advantage, critique })),
}
