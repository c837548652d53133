import type { Datum, Loss } from '../../../core/index.ts'
import type { TransformerConfig } from '../transformer/config.ts'
import { hasAuxiliary, hasLoss, type Sequence } from './divide.ts'
import { type GridShape, chooseGrid } from './grid.ts'
import type { PackedBatch, RowOrigin } from './packed-batch.ts'
import { type TokenTree, growTree } from './token-tree.ts'

/** Neighbouring sequences as one batch: their trees in a grid, and a row for each position with a loss. */
export function layOut(
  run: readonly Sequence[],
  data: readonly Datum[],
  { config, share, loss }: { readonly config: TransformerConfig; readonly share: boolean; readonly loss: Loss['kind'] },
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
      // A row that is auxiliary alone has weight 0 in the loss, at a ratio that is finite.
      const counts = hasLoss(given, position, loss)
      weights[row] = counts ? (given.weights?.[position] ?? 1) : 0
      oldLogprobs[row] = counts ? (given.logprobs?.[position] ?? 0) : 0
      advantages[row] = counts ? (given.advantages?.[position] ?? 0) : 0
      origin.datum[row] = counts ? datum : -1
      origin.position[row] = position
      row++
    }
  }
  return {
    batch: {
      shape,
      ...gridOf(tree, shape),
      rows,
      targets,
      weights,
      oldLogprobs,
      advantages,
      depth: tree.maxDepth + 1,
      ...auxiliaryOf(run, data),
    },
    origin,
  }
}

/** The rows' auxiliary targets, in the order of the rows; nothing where no row has any. */
function auxiliaryOf(run: readonly Sequence[], data: readonly Datum[]): Pick<PackedBatch, 'auxiliary'> {
  const rows = run.flatMap(({ datum, positions }) =>
    positions.map((position) => ({ given: data[datum] as Datum, position })),
  )
  const marked = rows.find(({ given, position }) => hasAuxiliary(given, position))
  const outputs = marked?.given.auxiliary?.targets[marked.position]?.length
  if (outputs === undefined) return {}
  const targets = new Float32Array(rows.length * outputs)
  const weights = new Float32Array(rows.length)
  for (const [row, { given, position }] of rows.entries()) {
    if (!hasAuxiliary(given, position)) continue
    targets.set(given.auxiliary?.targets[position] ?? [], row * outputs)
    weights[row] = given.auxiliary?.weights[position] ?? 0
  }
  return { auxiliary: { targets, weights } }
}

/** A score this far below the others has probability 0 in float32, and is finite where a whole row is masked. */
const masked = -1e9

/**
 * The tree in a grid. Nodes lie in preorder, so row b holds nodes b·N … b·N+N−1 and their ancestors are (path of the
 * row's first node) ∪ (the row itself): those are the row's keys, the path first, by depth.
 */
function gridOf(
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
