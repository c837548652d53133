import { Tensor } from 'onnxruntime-node'
import { expect, it } from 'vitest'
import { openSession } from '../../device/session.ts'
import { GraphBuilder } from '../builder.ts'
import { type ProductOptions, product } from './matmul.ts'

/** The product of two batches of matrices, and the operators that the graph is made of. */
async function productOf(options: ProductOptions, fusedProducts: boolean) {
  const graph = new GraphBuilder('product', { fusedProducts })
  const [a, b] = ['a', 'b'].map((name) => graph.input(name, 'float32', [2, 2, 2]))
  if (!a || !b) throw new Error('no inputs')
  graph.output('y', product(a, b, options))
  const session = await openSession(graph.build(), { threads: 1 })
  const feed = (...values: number[]) => new Tensor('float32', Float32Array.from(values), [2, 2, 2])
  const { y } = await session.run({ a: feed(1, 2, 3, 4, 5, 6, 7, 8), b: feed(1, 0, 2, 1, 3, 1, 0, 2) })
  await session.release()
  return { y: y?.data, operators: graph.toOnnx().nodes.map(({ operator }) => operator) }
}

it('multiplies as the fused operator does where a graph may not use it', async () => {
  // First matrices: [[1,2],[3,4]]ᵀ · [[1,0],[2,1]]ᵀ · 2 = [[2,10],[4,16]]; second: [[5,6],[7,8]]ᵀ · [[3,1],[0,2]]ᵀ · 2.
  const both = { transposeA: true, transposeB: true, scale: 2 }
  const plain = await productOf(both, false)
  expect(plain.operators).not.toContain('FusedMatMul')
  expect(plain.y).toEqual(Float32Array.of(2, 10, 4, 16, 44, 28, 52, 32))
  for (const options of [both, { transposeA: true }, { transposeB: true }, { scale: 3 }]) {
    const fused = await productOf(options, true)
    expect(fused.operators).toContain('FusedMatMul')
    expect((await productOf(options, false)).y).toEqual(fused.y)
  }
})
