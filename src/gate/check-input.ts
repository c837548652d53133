import type { HoldoutUse, PairedOutcome } from '../core/index.ts'
import type { PairedGateConfig } from './config.ts'
import { GateError } from './errors.ts'
import { holdoutHash } from './ledger.ts'

/** @throws GateError when the use spends more than the gate has, or the outcomes are not those of its tasks. */
export function checkUse({ alpha }: PairedGateConfig, outcomes: readonly PairedOutcome[], use: HoldoutUse): void {
  if (use.alpha > alpha) {
    throw new GateError({
      code: 'gate/use-spends-too-much',
      message: `This use of the holdout spends alpha ${use.alpha}; the gate has ${alpha} in all.`,
      hint: 'Claim the holdout with the alpha of the gate that decides.',
    })
  }
  const outcomesHash = holdoutHash([...new Set(outcomes.map(({ task }) => task))])
  if (outcomesHash === use.holdout) return
  throw new GateError({
    code: 'gate/other-holdout',
    message: `The ${outcomes.length} outcomes are not those of the tasks that use ${use.use} claimed.`,
    hint: 'Give one outcome for each task of the claimed holdout, with null scores where the evidence is missing.',
  })
}

/** @throws GateError when the suites are not those of the configuration. */
export function checkSuites({ suites }: PairedGateConfig, given: Readonly<Record<string, unknown>>): void {
  const [expected, actual] = [suites, given].map((names) => Object.keys(names).toSorted().join(', '))
  if (expected === actual) return
  throw new GateError({
    code: 'gate/other-suites',
    message: `Outcomes are given for the suites [${actual}]; the gate is configured for [${expected}].`,
    hint: 'Evaluate every configured suite, and no other.',
  })
}

/**
 * Holds that every rival is compared with the candidate that is judged: on the same tasks, with the same scores of it.
 * @throws GateError naming the rival that is not.
 */
export function checkRivals(
  outcomes: readonly PairedOutcome[],
  rivals: Readonly<Record<string, readonly PairedOutcome[]>>,
): void {
  const judged = new Map(outcomes.map(({ task, candidate }) => [task, candidate]))
  for (const [name, against] of Object.entries(rivals)) {
    const other = against.find(({ task, candidate }) => judged.get(task) !== candidate)
    const tasks = new Set(against.map(({ task }) => task)).size
    if (!other && tasks === judged.size) continue
    throw new GateError({
      code: 'gate/other-rival-outcomes',
      message: other
        ? `The outcomes of the rival "${name}" have other scores of the candidate than the gate judges by, first on the task "${other.task}".`
        : `The outcomes of the rival "${name}" are of ${tasks} tasks; the candidate is judged on ${judged.size}.`,
      hint: "Pair each rival's scores with the candidate's on every task of the holdout, with null where the evidence is missing.",
    })
  }
}
