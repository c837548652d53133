import type { TransformerConfig } from '../transformer/config.ts'
import { projectionShape, projections } from '../transformer/weights.ts'
import type { TokenTree } from './token-tree.ts'

/** A grid of `batch` rows of `nodes` tokens, each row attending to at most `keys` nodes. */
export interface GridShape {
  readonly batch: number
  readonly nodes: number
  readonly keys: number
}

/** Row lengths that are tried. */
const candidates = [16, 24, 32, 48, 64, 80, 100, 128, 160, 200, 256, 320, 400, 512, 768, 1024]

/** Work of one query-key pair and of one gathered key, relative to one cell's pass through the projections. */
interface GridCost {
  readonly pair: number
  readonly key: number
}

/** A pair costs in proportion to the attention's width, a cell to a block's weights; the factors are measured. */
function gridCost(config: TransformerConfig): GridCost {
  const weights = projections
    .map((projection) => projectionShape(config, projection))
    .reduce((sum, [output, input]) => sum + output * input, 0)
  return {
    pair: (4.2 * config.heads * config.headDim) / weights,
    key: (590 * config.kvHeads * config.headDim) / weights,
  }
}

/**
 * The row length with the least estimated work. Long rows pad the last row and attend across branches that do not see
 * each other; short rows gather a shared prefix more often.
 */
export function chooseGrid(tree: TokenTree, config: TransformerConfig): GridShape {
  const cost = gridCost(config)
  const shapes = [...candidates.filter((nodes) => nodes < tree.size), tree.size].map((nodes) => gridOf(tree, nodes))
  return shapes.reduce((best, shape) => (work(shape, cost) < work(best, cost) ? shape : best))
}

function gridOf(tree: TokenTree, nodes: number): GridShape {
  const batch = Math.ceil(tree.size / nodes)
  let keys = 0
  for (let row = 0; row < batch; row++) {
    const first = row * nodes
    keys = Math.max(keys, (tree.depth[first] as number) + Math.min(nodes, tree.size - first))
  }
  return { batch, nodes, keys }
}

function work({ batch, nodes, keys }: GridShape, cost: GridCost): number {
  return batch * (nodes + nodes * keys * cost.pair + keys * cost.key)
}
