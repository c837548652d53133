import type { Datum } from '../../core/index.ts'
import { malformed } from './failures.ts'
import { logprobProblem } from './logprob-problem.ts'

/**
 * The log-probabilities of one datum, where they count; 0 elsewhere.
 * @param outputs of the whole pass, one a datum.
 * @throws TinkerError `model/tinker-malformed` that names the field, for a wrong length and for what is no log-probability.
 */
export function checkedLogprobs(
  { input }: Datum,
  outputs: readonly ArrayLike<number>[],
  index: number,
  counts: (t: number) => boolean,
): readonly number[] {
  const told = outputs[index]
  if (told === undefined) throw malformed('a pass', `${outputs.length} loss_fn_outputs, none for datum ${index}`)
  const what = `loss_fn_outputs[${index}].logprobs`
  if (told.length !== input.length)
    throw malformed('a pass', `${what} of length ${told.length} for ${input.length} tokens`)
  return input.map((_, t) => {
    if (!counts(t)) return 0
    const value = told[t]
    const problem = logprobProblem(value)
    if (problem !== null || value === undefined) throw malformed('a pass', `${what}[${t}] = ${problem}`)
    return value
  })
}
