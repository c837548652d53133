import { choice, type choiceKind, type ChoiceOptions } from '../choice/index.ts'
import type { ParameterDefinition } from '../parameters.ts'
import { keepFeatures } from './features.ts'
import { keepOptions } from './form.ts'

/** How a keep policy is declared: as any choice, but for its options and features. */
export type KeepPolicyOptions = Pick<ChoiceOptions, 'start' | 'explore' | 'range' | 'noise'>

/**
 * Declares what decides which tool results stay in the context: a `choice` of `whole`, `excerpt` or `stub`, made for each
 * older result whenever the context is full. Its handle goes to {@link context}; its optimizers are those of any choice.
 * Before it has learned anything, `start` (default `whole`) leaves all to the rule that folds the oldest first.
 */
export function keepPolicy({
  start = 'whole',
  ...options
}: KeepPolicyOptions = {}): ParameterDefinition<typeof choiceKind> {
  return choice({ ...options, start, options: [...keepOptions], features: keepFeatures })
}
