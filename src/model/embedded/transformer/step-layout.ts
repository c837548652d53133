import { present } from '../../../errors/index.ts'
import {
  type Float,
  type GraphBuilder,
  type Integer,
  type RotaryTables,
  gatherIntegers,
  windowed,
} from '../graph/index.ts'
import { type TransformerConfig, isSliding } from './config.ts'
import { ports } from './ports.ts'
import { ropeName, ropes, rotaryTables, tableNames } from './rotary-tables.ts'

/** Where the new tokens of a step are, and who sees whom; see `inference-graph.ts` for the inputs that it is made of. */
export interface StepLayout {
  readonly positions: Integer
  readonly pad: Integer
  readonly unpad: Integer
  readonly spans: Integer
  /** `[batch, 1, new, all]`, added to the scores of a layer. */
  readonly mask: (layer: number) => Float
  readonly tables: (layer: number) => RotaryTables
}

/** Declares the inputs that say where tokens are, and stores rotary tables for `contextLength` positions. */
export function stepLayout(graph: GraphBuilder, config: TransformerConfig, contextLength: number): StepLayout {
  const positions = graph.input(ports.positions, 'int64', ['tokens', 1])
  const pad = graph.input(ports.pad, 'int64', ['batch', 'new'])
  const unpad = graph.input(ports.unpad, 'int64', ['tokens'])
  const mask = graph.input(ports.mask, 'float32', ['batch', 1, 'new', 'all'])
  const spans = graph.input(ports.spans, 'int64', [2])
  const tables = new Map(
    [...ropes(config)].map(([name, rope]) => {
      const { cos, sin } = rotaryTables(contextLength, config.headDim, rope)
      const stored = (table: string, elements: Float32Array) =>
        graph.initializer(table, 'float32', [contextLength, config.headDim / 2], elements)
      return [name, { cos: stored(tableNames[name].cos, cos), sin: stored(tableNames[name].sin, sin) }]
    }),
  )
  const near = config.sliding && nearMask({ positions, pad, mask, spans }, config.sliding.window)
  return {
    positions,
    pad,
    unpad,
    spans,
    mask: (layer) => (near !== undefined && isSliding(config, layer) ? near : mask),
    tables: (layer) => present(tables.get(ropeName(config, layer)), `the rotary tables of layer ${layer}`),
  }
}

/** The mask of layers with a window. Column p of a sequence's past is position p; then come the new tokens. */
function nearMask(
  { positions, pad, mask, spans }: Pick<StepLayout, 'positions' | 'pad' | 'spans'> & { readonly mask: Float },
  window: number,
): Float {
  const { graph } = mask
  const queries = gatherIntegers(positions, pad)
  const [zero, one] = [graph.integer(0), graph.integer(1)]
  const end = graph.node('Gather', [spans, zero], 'int64', [])
  const columns = graph.node('Range', [zero, end, one], 'int64', ['past'])
  const shape = graph.node(
    'Concat',
    [graph.size('batch'), graph.node('Shape', [columns], 'int64', [1])],
    'int64',
    [2],
    {
      attributes: { axis: { int: 0 } },
    },
  )
  const past = graph.node('Expand', [columns, shape], 'int64', ['batch', 'past'])
  const keys = graph.node('Concat', [past, queries], 'int64', ['batch', 'all'], { attributes: { axis: { int: 1 } } })
  return windowed(mask, queries, keys, window)
}
