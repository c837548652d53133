import { InferenceSession, Tensor } from 'onnxruntime-node'
import type { GraphBuilder } from '../../src/model/embedded/graph/index.ts'

/** A tensor to feed: float32 or int64 by its array. */
export interface Fed {
  readonly data: Float32Array | BigInt64Array
  readonly shape: readonly number[]
}

/** Runs a graph once on one thread; every output is float32. */
export async function runGraph(graph: GraphBuilder, feeds: Record<string, Fed>): Promise<Record<string, Float32Array>> {
  const session = await InferenceSession.create(graph.build(), {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
  })
  const tensors = Object.entries(feeds).map(([name, { data, shape }]) => {
    const tensor = data instanceof Float32Array ? new Tensor('float32', data, shape) : new Tensor('int64', data, shape)
    return [name, tensor] as const
  })
  const outputs = await session.run(Object.fromEntries(tensors))
  const arrays = Object.entries(outputs).map(([name, { data }]) => [name, (data as Float32Array).slice()] as const)
  await session.release()
  return Object.fromEntries(arrays)
}
