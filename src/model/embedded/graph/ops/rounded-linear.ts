import type { Float, Value } from '../builder.ts'
import { lastOf } from '../shape.ts'
import { binary } from './elementwise.ts'
import { asRows, reshaped } from './layout.ts'

/** A frozen matrix W `[out, in]` in 8 bits: W = diag(scales) · elements. */
export interface RoundedWeight {
  /** `[out, in]`: what the way back multiplies with. */
  readonly elements: Value<'int8'>
  /** The elements transposed, `[in, out]`: what the way there multiplies with. */
  readonly turned: Value<'int8'>
  /** `[out]` */
  readonly scales: Float
}

/**
 * `x · Wᵀ` with a frozen W in 8 bits, and each row of x rounded to 16 bits: the products are of integers, and exact.
 * Backward: dx = (dy · diag(scales)) · elements, with each row of the first factor rounded to 8 bits. So the way back is rounded
 * more than the way there, as in SwitchBack (Wortsman et al. 2023): its error is noise of a gradient, and not a model that differs
 * between sampling and training.
 */
export function roundedLinear(x: Float, { elements, turned, scales }: RoundedWeight): Float {
  return x.graph.record(roundedProduct(x, turned, scales), [x], (dy) => [
    () => {
      const scaled = binary('Mul', dy, scales)
      const { coarse, scale } = roundedRows(asRows(scaled))
      return unscaled(scaled, times(coarse, elements, 1), scale)
    },
  ])
}

/** `x · B · diag(scales)` with B `[in, out]` in 8 bits and each row of x rounded to 16 bits; not recorded. */
export function roundedProduct(x: Float, matrix: Value<'int8'>, scales: Float): Float {
  const rows = asRows(x)
  const { coarse, scale } = roundedRows(rows)
  const high = times(coarse, matrix, 1, scales)
  const low = times(rest(rows, coarse, scale), matrix, 1 / finer, scales)
  return unscaled(x, binary('Add', high, low), scale)
}

/** Bytes are −127 to 127, kept as unsigned ones with this for 0: the processor multiplies unsigned by signed bytes. */
const middle = 128
const most = 127
/** What the coarse bytes leave is at most half of their unit, and has bytes of its own. */
const finer = 2 * most

/** bytes · B, by a scale for all and one for each column. */
function times(bytes: Value<'uint8'>, matrix: Value<'int8'>, scale: number, scales: Float | null = null): Float {
  const { graph } = bytes
  const inputs = [bytes, matrix, graph.scalar(scale), scales ?? graph.scalar(1), zeroPoint(bytes)]
  const shape = [bytes.shape[0] ?? 1, lastOf(matrix.shape)]
  return graph.node('MatMulIntegerToFloat', inputs, 'float32', shape, { domain: 'com.microsoft' })
}

/** Each row times its scale, with the leading axes of x. */
function unscaled(x: Float, products: Float, scale: Float): Float {
  const { graph } = x
  const [rows = 1] = scale.shape
  const column = graph.once(`${scale.name} as a column`, () => reshaped(scale, [rows, 1]))
  const scaled = binary('Mul', products, column)
  return x.shape.length === 2 ? scaled : reshaped(scaled, [...x.shape.slice(0, -1), lastOf(products.shape)])
}

/** Rows `[rows, width]` as bytes, and by what each row's are scaled, `[rows]`. What several products read is rounded once. */
function roundedRows(x: Float): { readonly coarse: Value<'uint8'>; readonly scale: Float } {
  const { graph } = x
  const [rows = 1] = x.shape
  const scale = graph.once(`the scales of ${x.name}`, () => {
    const size = graph.node('Abs', [x], 'float32', x.shape)
    const attributes = { keepdims: { int: 0 } }
    const greatest = graph.node('ReduceMax', [size, graph.integers([-1])], 'float32', [rows], { attributes })
    // A row of zeros stays one.
    return graph.node('Max', [binary('Mul', greatest, graph.scalar(1 / most)), graph.scalar(1e-30)], 'float32', [rows])
  })
  return { coarse: graph.once(`the bytes of ${x.name}`, () => quantized(x, scale)), scale }
}

/** What the bytes leave of x, as bytes of a unit that is {@link finer} times smaller. */
function rest(x: Float, coarse: Value<'uint8'>, scale: Float): Value<'uint8'> {
  const { graph } = x
  return graph.once(`the finer bytes of ${x.name}`, () => {
    const known = graph.node('DequantizeLinear', [coarse, scale, zeroPoints(x)], 'float32', x.shape, ofRows)
    const unit = binary('Mul', scale, graph.scalar(1 / finer))
    return quantized(binary('Sub', x, known), unit)
  })
}

const ofRows = { attributes: { axis: { int: 0 } } } as const

const quantized = (x: Float, scale: Float): Value<'uint8'> =>
  x.graph.node('QuantizeLinear', [x, scale, zeroPoints(x)], 'uint8', x.shape, ofRows)

const zeroPoint = ({ graph }: Value): Value<'uint8'> =>
  graph.once('zero point', () => graph.initializer('zero point', 'uint8', [], Uint8Array.of(middle)))

/** One for each row. */
function zeroPoints(x: Float): Value<'uint8'> {
  const { graph } = x
  const [rows = 1] = x.shape
  return graph.once(`zero points for ${rows} rows`, () => {
    const count = graph.node('Shape', [x], 'int64', [1], { attributes: { start: { int: 0 }, end: { int: 1 } } })
    return graph.node('Expand', [zeroPoint(x), count], 'uint8', [rows])
  })
}
