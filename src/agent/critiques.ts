import type { DepositRule, TextCritique } from '../core/index.ts'

/** What decisions of a `text` Parameter deposit: one critique each. */
export const critiques: DepositRule<'text', TextCritique> = {
  kind: 'text',
  deposit: (trajectory, decided) =>
    decided.map(({ credit: { advantage, utility = null, critique = null } }) => ({
      advantage,
      utility,
      critique,
      trajectory,
    })),
}
