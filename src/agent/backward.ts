import {
  type Credit,
  type CreditedDecision,
  creditKey,
  type DepositRule,
  type Gradient,
  type ParameterName,
  type Trajectory,
  type VersionId,
} from '../core/index.ts'
import { InvariantError } from '../errors/index.ts'

/** Trajectories with the Credits of their Decisions. */
export interface CreditedBatch {
  readonly trajectories: readonly Trajectory[]
  readonly credits: readonly Credit[]
}

/** A Parameter that learns, and what its kind's Decisions deposit. */
export interface LearningParameter<D> {
  readonly parameter: ParameterName
  readonly rule: DepositRule<string, D>
}

/**
 * Walks the recorded Decisions of a batch and leaves a Gradient for each Version of the Parameter that learns. Those of
 * Parameters that do not learn are passed over: they are frozen, and get none. Decisions without credit (their reward is
 * missing) deposit nothing.
 * @throws InvariantError for a trajectory of a held-out task (invariant 6); for a Decision of the Parameter that is of
 * another kind than it; and what the rule throws.
 */
export function backward<D>(
  { trajectories, credits }: CreditedBatch,
  learns: LearningParameter<D>,
): readonly Gradient<D>[] {
  const creditOf = new Map(credits.map((credit) => [creditKey(credit), credit]))
  const deposits = new Map<VersionId, D[]>()
  for (const trajectory of trajectories) {
    if (trajectory.task.split === 'holdout') {
      throw new InvariantError(`the held-out task "${trajectory.task.id}" was about to be learnt from`)
    }
    for (const [version, decided] of decidedBy(trajectory, learns, creditOf)) {
      const known = deposits.get(version) ?? []
      known.push(...learns.rule.deposit(trajectory, decided))
      deposits.set(version, known)
    }
  }
  return [...deposits].map(([version, of]) => ({ parameter: learns.parameter, version, deposits: of }))
}

/** What each Version of the Parameter decided in a trajectory and has credit for. */
function decidedBy(
  trajectory: Trajectory,
  { parameter, rule }: LearningParameter<unknown>,
  creditOf: ReadonlyMap<string, Credit>,
): ReadonlyMap<VersionId, readonly CreditedDecision[]> {
  const decided = new Map<VersionId, CreditedDecision[]>()
  for (const decision of trajectory.decisions) {
    if (decision.parameter !== parameter) continue
    const credit = creditOf.get(creditKey({ trajectory: trajectory.id, decision: decision.id }))
    if (!credit) continue
    if (decision.kind !== rule.kind) {
      throw new InvariantError(`"${parameter}" learns as ${rule.kind} and made a decision of kind ${decision.kind}`)
    }
    const known = decided.get(decision.version)
    if (known) known.push({ decision, credit })
    else decided.set(decision.version, [{ decision, credit }])
  }
  return decided
}
