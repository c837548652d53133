import { Tensor } from 'onnxruntime-node'
import { present } from '../../../errors/index.ts'
import type { TransformerConfig } from '../transformer/config.ts'
import type { MemoryRows } from './attention-memory.ts'
import type { MemoryAdapter } from './memory-adapter.ts'
import { gateName } from './memory-config.ts'
import { memoryPorts } from './read-memory.ts'

/** A memory as the inputs that `readMemory` declares. */
export function memoryFeeds(
  { kvHeads, headDim }: TransformerConfig,
  { length, keys, values }: MemoryRows,
): Record<string, Tensor> {
  const tensor = (elements: Float32Array) => new Tensor('float32', elements, [length, kvHeads * headDim])
  return { [memoryPorts.keys]: tensor(keys), [memoryPorts.values]: tensor(values) }
}

/** An adapter's gates as the input of a graph that does not train them. */
export function gateFeed({ heads }: TransformerConfig, { layer, tensors }: MemoryAdapter): Record<string, Tensor> {
  return { [memoryPorts.gate]: new Tensor('float32', present(tensors.get(gateName(layer)), 'the gate'), [heads]) }
}
