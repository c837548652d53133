import { z } from 'zod'
import { type choiceKind, type ChoiceDeposit, type ChoicePolicy, ChoiceValue } from '../../agent/index.ts'
import type { Learning, Metrics, Optimizer, Rng, Seat } from '../../core/index.ts'
import { sharpened } from './sharpen.ts'

/** What tells one optimizer of choices from another. */
export interface Rule {
  readonly name: string
  /** The policy that it drives, made of the one in force where that is of its kind. */
  begin(value: ChoiceValue, rng: Rng): ChoicePolicy
  /** The policy after a batch. `value` holds what is believed of the options after it. */
  move(
    value: ChoiceValue,
    deposits: readonly ChoiceDeposit[],
  ): { readonly policy: ChoicePolicy; readonly metrics: Metrics }
}

/** Everything that a session knows: the value as it is now, and whether it has learned anything. */
const State = z.strictObject({ value: ChoiceValue, learned: z.boolean() })
type State = z.infer<typeof State>

/**
 * Makes an optimizer of a rule. Whatever the rule, each batch sharpens what is believed of every option's quality, which is
 * what a floor goes by.
 *
 * In practice nobody is hurt by a bad option: there the floor does not hold, so that an option of which nothing is known can
 * be tried, and may be taken in production once it is known to be good enough. What is proposed has the floor.
 */
export function choiceOptimizer(rule: Rule): Optimizer<typeof choiceKind> {
  return {
    name: rule.name,
    kind: 'choice',
    open: async (seat, saved) => session(rule, seat, saved ? State.parse(saved.state) : null),
  }
}

function session(rule: Rule, seat: Seat<ChoiceValue>, saved: State | null): Learning<typeof choiceKind> {
  const practises = seat.evaluate !== null
  let state: State = saved ?? {
    value: ChoiceValue.parse({ ...seat.value, policy: rule.begin(seat.value, seat.rng('begin')) }),
    learned: false,
  }
  return {
    bound: async () => (practises ? { ...state.value, floor: null } : state.value),
    propose: async () => (state.learned ? state.value : null),
    save: async () => ({ state: JSON.parse(JSON.stringify(state)) }),
    async step(deposits) {
      const { fit, failures } = sorted(deposits)
      if (fit.length === 0) return failures
      const { value: believed, clamped } = sharpened(state.value, fit)
      const { policy, metrics } = rule.move(believed, fit)
      state = { value: { ...believed, policy }, learned: true }
      return { ...failures, ...(clamped > 0 && { clamped }), ...metrics, ...taken(state.value, fit) }
    },
  }
}

/** Choices that the policy made, and how many were not made by it, by the reason. */
function sorted(deposits: readonly ChoiceDeposit[]): {
  readonly fit: readonly ChoiceDeposit[]
  readonly failures: Metrics
} {
  const failures: Record<string, number> = {}
  for (const { failed } of deposits)
    if (failed !== null) failures[`failed.${failed}`] = (failures[`failed.${failed}`] ?? 0) + 1
  return { fit: deposits.filter(({ failed }) => failed === null), failures }
}

/** The share of each option among what was chosen. */
function taken({ options }: ChoiceValue, deposits: readonly ChoiceDeposit[]): Metrics {
  const share = (i: number) => deposits.filter(({ chosen }) => chosen === i).length / deposits.length
  return Object.fromEntries(options.map(({ name }, i) => [`took.${name}`, share(i)]))
}
