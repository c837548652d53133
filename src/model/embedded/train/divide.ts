import type { Datum, Loss } from '../../../core/index.ts'
import { assign } from './assign.ts'
import { sharedPrefix } from './token-tree.ts'

/** One datum's part in the loss: its tokens up to the last position that matters, and those positions. */
export interface Sequence {
  readonly datum: number
  readonly tokens: readonly number[]
  readonly positions: readonly number[]
}

/** Neighbouring sequences. */
export interface Run {
  readonly sequences: Sequence[]
  /** Nodes of their trees. */
  nodes: number
  /** Leading tokens that all of them have in common. */
  common: number
}

/** What a division keeps to; see PackingOptions. */
export interface Division {
  readonly budget: number
  readonly shards: number
  readonly share: boolean
}

/**
 * A datum's sequence; none where every position has weight 0 (or advantage 0, for the policy losses) and no auxiliary
 * targets.
 */
export function toSequence(given: Datum, datum: number, loss: Loss['kind']): Sequence[] {
  const { input } = given
  const positions = [...input.keys()].filter((t) => hasLoss(given, t, loss) || hasAuxiliary(given, t))
  const last = positions.at(-1)
  return last === undefined ? [] : [{ datum, tokens: input.slice(0, last + 1), positions }]
}

// In float32, as the loss sees it: what is 0 there must not meet an infinite ratio.
const some = (value: number): boolean => Math.fround(value) !== 0

/** Whether a position has a part in the loss. */
export const hasLoss = ({ weights, advantages }: Datum, t: number, loss: Loss['kind']): boolean =>
  some(weights?.[t] ?? 1) && (loss === 'cross_entropy' || some(advantages?.[t] ?? 0))

/** Whether a position has auxiliary targets. */
export const hasAuxiliary = ({ auxiliary }: Datum, t: number): boolean => some(auxiliary?.weights[t] ?? 0)

/** Orders sequences so that those with a common prefix are neighbours. */
export function compareTokens(a: readonly number[], b: readonly number[]): number {
  const shared = sharedPrefix(a, b)
  return (a[shared] ?? -1) - (b[shared] ?? -1)
}

/** Estimated work of one batch, in nodes: a fixed part, and activations that leave the caches as batches grow. */
function workOf(nodes: number): number {
  return 40 + nodes * (1 + nodes / 25_000)
}

/**
 * Cuts the sorted sequences so that the busiest shard has the least to do: smaller batches balance better, and compute
 * what they share more often.
 */
export function divideEvenly(sequences: readonly Sequence[], { budget, shards, share }: Division): Run[] {
  const total = sequences.reduce((sum, { tokens }) => sum + tokens.length, 0)
  let best = divide(sequences, budget, { budget, share })
  let least = busiest(best, shards)
  for (let limit = Math.min(budget, total) * 0.9; limit >= 64; limit *= 0.9) {
    const runs = divide(sequences, limit, { budget, share })
    const load = busiest(runs, shards)
    if (load < least) [best, least] = [runs, load]
  }
  return best
}

function busiest(runs: readonly Run[], shards: number): number {
  const work = runs.map(({ nodes }) => workOf(nodes))
  return Math.max(0, ...assign(work, shards).map((queue) => queue.reduce((sum, run) => sum + (work[run] ?? 0), 0)))
}

/**
 * Cuts the sorted sequences into runs whose trees weigh at most `limit`, or hold one sequence. A run weighs its nodes,
 * less what is common to all its sequences beyond half the budget: every one of them needs those nodes anyhow. So
 * sequences near or beyond the budget share a long prefix too, and a run has at most half a budget more nodes than the
 * longest prefix in it.
 */
function divide(sequences: readonly Sequence[], limit: number, { budget, share }: Omit<Division, 'shards'>): Run[] {
  const runs: Run[] = []
  for (const sequence of sequences) {
    const run = runs.at(-1)
    const { length } = sequence.tokens
    const shared = share ? sharedPrefix(sequence.tokens, run?.sequences.at(-1)?.tokens) : 0
    const nodes = (run?.nodes ?? 0) + length - shared
    const common = Math.min(run?.common ?? length, shared)
    if (run === undefined || nodes - Math.max(0, common - budget / 2) > limit) {
      runs.push({ sequences: [sequence], nodes: length, common: length })
    } else {
      run.sequences.push(sequence)
      run.nodes = nodes
      run.common = common
    }
  }
  return runs
}
