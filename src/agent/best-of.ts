import type { Candidate, Message, Ranker, SampledSequence } from '../core/index.ts'
import { InputError, present } from '../errors/index.ts'
import { AgentError } from './errors.ts'

/** Says the best of several things that the model could say. */
export interface BestOf {
  /** Sampled at each turn, at least 2. The budget counts the one that is said. */
  readonly of: number
  /** Which one is said. */
  readonly by: Ranker
}

/** What was sampled, and what it says. */
export interface Sampled {
  readonly sequence: SampledSequence
  readonly message: Candidate['message']
}

/** @throws InputError for fewer than two candidates. */
export function checkBestOf({ of }: BestOf): void {
  if (Number.isInteger(of) && of >= 2) return
  throw new InputError({
    code: 'agent/bad-best-of',
    message: `An agent cannot say the best of ${of}.`,
    hint: 'Give `best.of` a whole number of at least 2, or leave `best` out.',
  })
}

/**
 * The candidate of the highest score; of equal ones the first.
 * @throws AgentError where the ranker does not give each candidate a number.
 */
export async function bestOf(
  candidates: readonly Sampled[],
  read: readonly Message[],
  { by }: BestOf,
): Promise<Sampled> {
  const scores = await by.rank(
    read,
    candidates.map(({ sequence, message }) => ({ message, logprob: logprobOf(sequence.logprobs) })),
  )
  if (scores.length !== candidates.length || !scores.every(Number.isFinite)) {
    throw new AgentError({
      code: 'agent/bad-ranking',
      message: `The ranker "${by.name}" gave the scores [${scores.join(', ')}] for ${candidates.length} candidates.`,
      hint: 'Give one finite number for each candidate.',
    })
  }
  return present(candidates[scores.indexOf(Math.max(...scores))], 'a ranked candidate')
}

/** The log-probability of all tokens together. */
export const logprobOf = (logprobs: readonly number[]): number => logprobs.reduce((sum, one) => sum + one, 0)
