import { z } from 'zod'
import { type Message, parseInput } from '../../core/index.ts'
import { mean } from '../learned/accuracy.ts'
import { foldsBySubject } from '../learned/example.ts'
import { boundsOf } from '../learned/lower-bound.ts'
import { type ActionValue, actionValue } from './action-value.ts'
import { fitted } from './bellman.ts'
import type { Experience } from './experience.ts'
import { type StateEvidence, stateEvidence } from './held-out.ts'
import type { MoveFeatures } from './move-features.ts'
import { allRead, returnsOf, type Row, rowsOf } from './rows.ts'

const FitOptions = z.strictObject({
  /**
   * What a move is worth beside its own reward:
   * - `best`: as much as the best move that anybody is known to have made next. Default.
   * - `likeliest`: as much as the likeliest one: what the policy's own first choice comes to, which is less and safer. Where no
   *   log-probability was recorded, the one that was made.
   * - `return`: what came in the end, whoever acted (Monte Carlo): of a bad policy, its own bad end.
   */
  backup: z.enum(['best', 'likeliest', 'return']).default('best'),
  /** γ in [0, 1]: what a reward is worth one move earlier. Default 0.95. */
  discount: z.number().min(0).max(1).default(0.95),
  /** Shrinks the weights of the features, all alike: keep features of about one size. Default 1. */
  lambda: z.number().positive().default(1),
  /**
   * `logprobs` (default): the value begins as a line in the recorded log-probabilities, as steep as they foretell returns, and
   * the features tell the rest; with little to learn from, the ranking is the policy's own. `none`: it begins as a constant.
   */
  prior: z.enum(['logprobs', 'none']).default('logprobs'),
  /** The chance that a value which ranks no better than a constant is taken. Default 0.05. */
  alpha: z.number().positive().lt(0.5).default(0.05),
  /** Tasks with a state in which several things were tried, at least; 10 or more. Default 10. */
  leastSubjects: z.int().min(10).default(10),
  seed: z.int().default(0),
})

/** How a value is fitted and tested. */
export interface ValueOptions extends z.input<typeof FitOptions> {
  /** Names the state that a move was made in, from what had been read. Default: all of it. */
  readonly state?: (read: readonly Message[]) => string
}

/** What a value told of tasks that it had not seen. */
export interface ValueEvidence {
  readonly subjects: number
  /** States in which several things were tried, and moves in them. */
  readonly states: number
  readonly moves: number
  /**
   * By how much the squared error of what it told lies below that of a constant of the state that knows what came on
   * average; mean over tasks, bounds one-sided at `alpha`. `null` for fewer than two tasks.
   */
  readonly gain: { readonly mean: number; readonly low: number; readonly high: number } | null
  /** Of two moves of one state that came to different ends, how often the better one has the higher value; `null` for none. */
  readonly ranked: number | null
}

/** A value, or why there is none. */
export type FittedValue =
  | { readonly status: 'fitted'; readonly value: ActionValue; readonly evidence: ValueEvidence }
  | { readonly status: 'refused'; readonly reason: string; readonly evidence: ValueEvidence }

const heldOutFolds = 5

/**
 * The value of what may be said, from episodes of any policy, after B-Coder (Yu et al., "B-Coder: Value-Based Deep
 * Reinforcement Learning for Program Synthesis", ICLR 2024): off-policy Q-learning that begins from the policy's own
 * log-probabilities and backs up conservatively. Here it is linear, and never values a move that nobody made. The most over
 * moves that a policy made is the operator of EMaQ (Ghasemipour et al. 2021).
 *
 * It is refused unless, on tasks that were held out, it tells apart what was tried in one state better than a constant of that
 * state does: a value that only knows which task is easy cannot rank. Equal episodes and seeds give an equal value.
 * @throws InputError for options that it does not know; RewardError for features that differ in number, and for numbers that
 * are not finite.
 */
export async function fitActionValue(
  experiences: readonly Experience[],
  features: MoveFeatures,
  { state = allRead, ...given }: ValueOptions = {},
): Promise<FittedValue> {
  const { alpha, leastSubjects, seed, ...fitting } = parseInput(FitOptions, given, 'The fitting of a value')
  const rows = await rowsOf(experiences, features, state)
  const returns = returnsOf(rows, fitting.discount)
  const folds = foldsBySubject(rows, heldOutFolds, seed)
  const states: StateEvidence[] = []
  for (let fold = 0; fold < heldOutFolds; fold++) {
    const held = rows.filter((_, i) => folds[i] === fold)
    const value = valueOf(rows.filter((_, i) => folds[i] !== fold))
    if (value === null) continue
    const told = new Map(held.map((row) => [row, actionValue(value, row.features, row.logprob)]))
    states.push(...stateEvidence(held, told, returns, fitting.backup))
  }
  const evidence = summed(states, alpha)
  const { subjects, gain } = evidence
  const value = valueOf(rows)
  if (value === null || gain === null || subjects < leastSubjects) {
    const reason = `there is too little to learn from: ${subjects} tasks with a state in which several things were tried, at least ${leastSubjects}`
    return { status: 'refused', reason, evidence }
  }
  if (gain.low > 0) return { status: 'fitted', value, evidence }
  const reason = `on held-out tasks it does not rank better than a constant: the gain in squared error is ${gain.mean.toFixed(4)}, its lower bound ${gain.low.toFixed(4)}`
  return { status: 'refused', reason, evidence }

  function valueOf(some: readonly Row[]): ActionValue | null {
    const found = fitted(some, fitting)
    return found && { ...found, features: features.name }
  }
}

function summed(states: readonly StateEvidence[], alpha: number): ValueEvidence {
  const gains = new Map<string, number[]>()
  for (const { subject, gain } of states) gains.set(subject, [...(gains.get(subject) ?? []), gain])
  const sum = (of: (one: StateEvidence) => number) => states.reduce((total, one) => total + of(one), 0)
  const pairs = sum((one) => one.pairs)
  return {
    subjects: gains.size,
    states: states.length,
    moves: sum(({ moves }) => moves),
    gain: gains.size < 2 ? null : boundsOf([...gains.values()].map(mean), alpha),
    ranked: pairs === 0 ? null : sum(({ right }) => right) / pairs,
  }
}
