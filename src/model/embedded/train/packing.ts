import type { Datum, Loss } from '../../../core/trainer.ts'
import type { LlamaConfig } from '../llama/config.ts'
import { assign } from './assign.ts'
import { type GridShape, chooseGrid } from './grid.ts'
import { type TokenTree, growTree, sharedPrefix } from './token-tree.ts'

/**
 * Tree packing. The data of one call are laid out as trees of tokens: a prefix that several data share (a group's
 * prompt, an episode's history) is computed once. Positions are depths and attention sees ancestors only, so every
 * token gets the value it would get in its own sequence.
 *
 * Sorted by their tokens, data that share a prefix lie side by side; a batch is a run of neighbours, cut where the
 * budget ends, and what is shared across a cut is computed on both sides.
 */

/** One forward-backward pass over some trees, as plain data; see `llama/training-graph.ts` for the meaning. */
export interface PackedBatch {
  readonly shape: GridShape
  readonly tokens: BigInt64Array
  readonly positions: BigInt64Array
  readonly keys: BigInt64Array
  readonly mask: Float32Array
  readonly rows: BigInt64Array
  readonly targets: BigInt64Array
  readonly weights: Float32Array
  readonly oldLogprobs: Float32Array
  readonly advantages: Float32Array
  /** 1 + the deepest position. */
  readonly depth: number
}

/** Which datum and position each row of a batch came from. */
export interface RowOrigin {
  readonly datum: Int32Array
  readonly position: Int32Array
}

export interface PackedData {
  readonly batches: readonly { readonly batch: PackedBatch; readonly origin: RowOrigin }[]
  /** Tokens of all data as given, and grid cells computed. */
  readonly tokens: { readonly data: number; readonly computed: number }
}

/** How data are divided into batches. */
export interface PackingOptions {
  /** The model, whose shape decides which grids are cheap. */
  readonly config: LlamaConfig
  /** Most tree nodes in one batch; one longer datum makes a batch of its own. */
  readonly budget: number
  /** How many shards the batches are spread over; they are cut so that all have about equal work. Default 1. */
  readonly shards?: number
  /** Whether prefixes are shared; without it each datum is its own tree, as a reference. Default true. */
  readonly share?: boolean
}

/** One datum's part in the loss: its tokens up to the last position that matters, and those positions. */
interface Sequence {
  readonly datum: number
  readonly tokens: readonly number[]
  readonly positions: readonly number[]
}

/** Packs data for a loss. Positions with weight 0 (or advantage 0, for the policy losses) get no row. */
export function pack(data: readonly Datum[], loss: Loss['kind'], options: PackingOptions): PackedData {
  const { config, budget, shards = 1, share = true } = options
  const sequences = data.flatMap((datum, index) => toSequence(datum, index, loss))
  if (share) sequences.sort((a, b) => compareTokens(a.tokens, b.tokens) || a.datum - b.datum)
  const runs = divideEvenly(sequences, { budget, shards, share })
  const batches = runs.map((run) => packRun(run, data, config, share))
  return {
    batches,
    tokens: {
      data: data.reduce((sum, { input }) => sum + input.length, 0),
      computed: batches.reduce((sum, { batch: { shape } }) => sum + shape.batch * shape.nodes, 0),
    },
  }
}

function toSequence({ input, weights, advantages }: Datum, datum: number, loss: Loss['kind']): Sequence[] {
  const matters = (t: number) => (weights?.[t] ?? 1) !== 0 && (loss === 'cross_entropy' || (advantages?.[t] ?? 0) !== 0)
  const positions = [...input.keys()].filter(matters)
  const last = positions.at(-1)
  return last === undefined ? [] : [{ datum, tokens: input.slice(0, last + 1), positions }]
}

function compareTokens(a: readonly number[], b: readonly number[]): number {
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
function divideEvenly(
  sequences: readonly Sequence[],
  { budget, shards, share }: Required<Omit<PackingOptions, 'config'>>,
): Sequence[][] {
  const total = sequences.reduce((sum, { tokens }) => sum + tokens.length, 0)
  let best = divide(sequences, budget, share)
  let least = busiest(best, shards)
  for (let limit = Math.min(budget, total) * 0.9; limit >= 64; limit *= 0.9) {
    const runs = divide(sequences, limit, share)
    const load = busiest(runs, shards)
    if (load < least) [best, least] = [runs, load]
  }
  return best.map(({ sequences }) => sequences)
}

function busiest(runs: readonly Run[], shards: number): number {
  const work = runs.map(({ nodes }) => workOf(nodes))
  return Math.max(0, ...assign(work, shards).map((queue) => queue.reduce((sum, run) => sum + (work[run] ?? 0), 0)))
}

/** Neighbouring sequences and the number of nodes of their trees. */
interface Run {
  readonly sequences: Sequence[]
  nodes: number
}

/** Cuts the sorted sequences into runs whose trees have at most `limit` nodes, or hold one sequence. */
function divide(sequences: readonly Sequence[], limit: number, share: boolean): Run[] {
  const runs: Run[] = []
  for (const sequence of sequences) {
    const run = runs.at(-1)
    const { length } = sequence.tokens
    const added = length - (share ? sharedPrefix(sequence.tokens, run?.sequences.at(-1)?.tokens) : 0)
    if (run === undefined || run.nodes + added > limit) runs.push({ sequences: [sequence], nodes: length })
    else {
      run.sequences.push(sequence)
      run.nodes += added
    }
  }
  return runs
}

function packRun(
  run: readonly Sequence[],
  data: readonly Datum[],
  config: LlamaConfig,
  share: boolean,
): { batch: PackedBatch; origin: RowOrigin } {
  const tree = growTree(
    run.map(({ tokens }) => tokens),
    share,
  )
  const shape = chooseGrid(tree, config)
  const count = run.reduce((sum, { positions }) => sum + positions.length, 0)
  const rows = new BigInt64Array(count)
  const targets = new BigInt64Array(count)
  const weights = new Float32Array(count)
  const oldLogprobs = new Float32Array(count)
  const advantages = new Float32Array(count)
  const origin = { datum: new Int32Array(count), position: new Int32Array(count) }
  let row = 0
  for (const [index, { datum, positions }] of run.entries()) {
    const path = tree.paths[index] as Int32Array
    const given = data[datum] as Datum
    for (const position of positions) {
      rows[row] = BigInt(path[position] as number)
      targets[row] = BigInt(given.target[position] as number)
      weights[row] = given.weights?.[position] ?? 1
      oldLogprobs[row] = given.logprobs?.[position] ?? 0
      advantages[row] = given.advantages?.[position] ?? 0
      origin.datum[row] = datum
      origin.position[row] = position
      row++
    }
  }
  return {
    batch: { shape, ...layOut(tree, shape), rows, targets, weights, oldLogprobs, advantages, depth: tree.maxDepth + 1 },
    origin,
  }
}

/** A score this far below the others has probability 0 in float32, and is finite where a whole row is masked. */
const masked = -1e9

/**
 * The tree in a grid. Nodes lie in preorder, so row b holds nodes b·N … b·N+N−1 and their ancestors are (path of the
 * row's first node) ∪ (the row itself): those are the row's keys, the path first, by depth.
 */
function layOut(
  tree: TokenTree,
  { batch, nodes, keys }: GridShape,
): Pick<PackedBatch, 'tokens' | 'positions' | 'keys' | 'mask'> {
  const cells = batch * nodes
  const tokens = new BigInt64Array(cells)
  const positions = new BigInt64Array(cells)
  const keyNodes = new BigInt64Array(batch * keys)
  const mask = new Float32Array(cells * keys).fill(masked)
  for (let first = 0; first < tree.size; first += nodes) {
    const keyRow = (first / nodes) * keys
    const pathLength = tree.depth[first] as number
    let ancestor = tree.parent[first] as number
    for (let slot = pathLength - 1; slot >= 0; slot--) {
      keyNodes[keyRow + slot] = BigInt(ancestor)
      ancestor = tree.parent[ancestor] as number
    }
    for (let node = first; node < Math.min(first + nodes, tree.size); node++) {
      const own = pathLength + node - first
      const parent = tree.parent[node] as number
      tokens[node] = BigInt(tree.token[node] as number)
      positions[node] = BigInt(tree.depth[node] as number)
      keyNodes[keyRow + own] = BigInt(node)
      if (parent >= first) mask.copyWithin(node * keys, parent * keys, parent * keys + own)
      else mask.fill(0, node * keys, node * keys + (tree.depth[node] as number))
      mask[node * keys + own] = 0
    }
  }
  return { tokens, positions, keys: keyNodes, mask }
}
