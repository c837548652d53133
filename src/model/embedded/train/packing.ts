import type { Datum, Loss } from '../../../core/index.ts'
import type { TransformerConfig } from '../transformer/config.ts'
import { compareTokens, divideEvenly, toSequence } from './divide.ts'
import { layOut } from './lay-out.ts'
import type { PackedBatch, RowOrigin } from './packed-batch.ts'

export type { PackedBatch, RowOrigin } from './packed-batch.ts'

/**
 * Tree packing. The data of one call are laid out as trees of tokens: a prefix that several data share (a group's
 * prompt, an episode's history) is computed once. Positions are depths and attention sees ancestors only, so every
 * token gets the value it would get in its own sequence.
 *
 * Sorted by their tokens, data that share a prefix lie side by side; a batch is a run of neighbours, cut where the
 * budget ends, and what is shared across a cut is computed on both sides. A long prefix is shared beyond the budget: see
 * {@link PackingOptions.budget}.
 */

/** A batch that has been planned; its arrays are made when it is its turn. */
export interface PlannedBatch {
  /** Tree nodes: what it costs, about. */
  readonly nodes: number
  layOut(): { readonly batch: PackedBatch; readonly origin: RowOrigin }
}

/** How data are divided into batches. */
export interface PackingOptions {
  /** The model, whose shape decides which grids are cheap. */
  readonly config: TransformerConfig
  /**
   * Most tree nodes in one batch. A longer datum makes a batch of its own, or one with others that begin with the same
   * tokens: what all data of a batch have in common counts at most half the budget.
   */
  readonly budget: number
  /** How many shards the batches are spread over; they are cut so that all have about equal work. Default 1. */
  readonly shards?: number
  /** Whether prefixes are shared; without it each datum is its own tree, as a reference. Default true. */
  readonly share?: boolean
}

/** Packs data for a loss. Positions with weight 0 (or advantage 0, for the policy losses) and no auxiliary targets get no row. */
export function pack(data: readonly Datum[], loss: Loss['kind'], options: PackingOptions): PlannedBatch[] {
  const { config, budget, shards = 1, share = true } = options
  const sequences = data.flatMap((datum, index) => toSequence(datum, index, loss))
  if (share) sequences.sort((a, b) => compareTokens(a.tokens, b.tokens) || a.datum - b.datum)
  return divideEvenly(sequences, { budget, shards, share }).map(({ sequences, nodes }) => ({
    nodes,
    layOut: () => layOut(sequences, data, { config, share, loss }),
  }))
}
