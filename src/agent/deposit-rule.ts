import type { AnyKind, DepositRule } from '../core/index.ts'
import { KindError } from './errors.ts'
import { problemsOf } from './kind-value.ts'

/**
 * How the Decisions of a Kind deposit, for `backward`.
 * @throws KindError, as it deposits, for a Decision whose `made` the Kind's schema refuses.
 */
export const depositRule = (module: AnyKind): DepositRule<string, unknown> => ({
  kind: module.kind,
  deposit: (trajectory, decided) =>
    module.deposit(
      decided.map((one) => {
        const { success, data, error } = module.made.safeParse(one.decision.made ?? null)
        if (success) return { ...one, made: data }
        throw new KindError({
          code: 'agent/unreadable-decision',
          message: `Decision "${one.decision.id}" of "${one.decision.parameter}" in trajectory "${trajectory.id}" holds what the kind "${module.kind}" does not allow: ${problemsOf(error)}.`,
          hint: "Let the Kind's schema of `made` accept what was recorded before it changed.",
          cause: error,
        })
      }),
      trajectory,
    ),
})
