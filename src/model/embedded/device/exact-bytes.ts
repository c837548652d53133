import { Tensor } from 'onnxruntime-node'
import { GraphBuilder, roundedProduct } from '../graph/index.ts'
import { PrecisionUnavailableError } from './precision-unavailable-error.ts'
import { openSession } from './session.ts'

const width = 64
const most = 127

/**
 * Whether this processor's sums of products of bytes are exact. Multiplies the greatest bytes that there are: processors without
 * instructions for products of 8 bits add two of them in 16, where such sums do not fit.
 */
export async function hasExactBytes(): Promise<boolean> {
  const graph = new GraphBuilder('exact bytes')
  const x = graph.input('x', 'float32', [1, width])
  const matrix = graph.initializer('matrix', 'int8', [width, width], new Int8Array(width * width).fill(most))
  graph.output(
    'y',
    roundedProduct(x, matrix, graph.initializer('scales', 'float32', [width], new Float32Array(width).fill(1))),
  )
  const session = await openSession(graph.build(), { threads: 1 })
  const { y } = await session.run({ x: new Tensor('float32', new Float32Array(width).fill(most), [1, width]) })
  await session.release()
  const sum = width * most * most
  return Math.abs(Number(y?.data[0]) - sum) < sum / 1000
}

/** @throws PrecisionUnavailableError when this processor's sums are not exact. */
export async function expectExactBytes(): Promise<void> {
  if (await hasExactBytes()) return
  throw new PrecisionUnavailableError(
    'this processor has no instructions for products of 8 bits, and its sums are not exact',
  )
}
