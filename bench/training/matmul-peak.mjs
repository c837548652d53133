import ort from 'onnxruntime-node'
import { openSession } from '../../dist/model/embedded/device/session.js'
import { GraphBuilder } from '../../dist/model/embedded/graph/index.js'

const size = 2048

/**
 * The most GFLOP a second that ONNX Runtime reaches in a product of two square matrices in float32, of some tries.
 * @param {number} threads
 */
export async function matmulPeak(threads, tries = 8) {
  const graph = new GraphBuilder('peak')
  const values = Float32Array.from({ length: size * size }, (_, i) => ((i * 7919) % 1000) / 1000 - 0.5)
  const left = graph.input('left', 'float32', [size, size])
  const right = graph.initializer('right', 'float32', [size, size], values)
  graph.output('product', graph.node('MatMul', [left, right], 'float32', [size, size]))
  const session = await openSession(graph.build(), { threads })
  const feeds = { left: new ort.Tensor('float32', values, [size, size]) }
  let best = 0
  for (let i = 0; i < tries; i++) {
    const begin = performance.now()
    await session.run(feeds)
    best = Math.max(best, (2 * size ** 3) / (performance.now() - begin) / 1e6)
  }
  await session.release()
  return best
}
