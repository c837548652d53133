import {
  type Float,
  type GraphBuilder,
  type Integer,
  type RotaryTables,
  gatherIntegers,
  windowed,
} from '../graph/index.ts'
import { present } from '../../../errors/index.ts'
import { type TransformerConfig, isSliding } from './config.ts'
import { ropeName, ropes, tableNames } from './rotary-tables.ts'

/** Where the nodes of packed trees are, and who sees whom; see `training-graph.ts` for the inputs that it is made of. */
export interface TreeLayout {
  readonly positions: Integer
  readonly keys: Integer
  /** `[batch, nodes, keys]`, added to the scores of a layer. */
  readonly mask: (layer: number) => Float
  readonly tables: (layer: number) => RotaryTables
}

/** Declares the inputs that say where tokens are. */
export function treeLayout(graph: GraphBuilder, config: TransformerConfig): TreeLayout {
  const positions = graph.input('positions', 'int64', ['batch', 'nodes'])
  const keys = graph.input('keys', 'int64', ['batch', 'keys'])
  const mask = graph.input('mask', 'float32', ['batch', 'nodes', 'keys'])
  const table = (name: string) => graph.input(name, 'float32', ['positions', config.headDim / 2])
  const tables = new Map(
    [...ropes(config).keys()].map((rope) => {
      const { cos, sin } = tableNames[rope]
      return [rope, { cos: table(cos), sin: table(sin) }]
    }),
  )
  // A node's depth is its position, and a key that is an ancestor lies as many tokens back as their depths differ.
  const near = config.sliding && windowed(mask, positions, gatherIntegers(positions, keys), config.sliding.window)
  return {
    positions,
    keys,
    mask: (layer) => (near !== undefined && isSliding(config, layer) ? near : mask),
    tables: (layer) => present(tables.get(ropeName(config, layer)), `the rotary tables of layer ${layer}`),
  }
}
