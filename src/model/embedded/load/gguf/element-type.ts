import type { Dtype } from '../safetensors.ts'
import { toFloat32 } from '../floats.ts'
import type { BlockFormat } from './blocks/block-format.ts'
import { blockFormats } from './blocks/formats.ts'
import { UnsupportedQuantizationError } from './unsupported-quantization-error.ts'

/** How a tensor's numbers are stored: one by one, or in blocks. */
export type ElementType = { readonly dtype: Dtype; readonly elements: 1; readonly bytes: number } | BlockFormat

const plain: ReadonlyMap<number, ElementType & { readonly dtype: Dtype }> = new Map([
  [0, { dtype: 'F32', elements: 1, bytes: 4 }],
  [1, { dtype: 'F16', elements: 1, bytes: 2 }],
  [28, { dtype: 'F64', elements: 1, bytes: 8 }],
  [30, { dtype: 'BF16', elements: 1, bytes: 2 }],
])

const supported = [...plain.values()]
  .map(({ dtype }) => dtype as string)
  .concat([...blockFormats.values()].map(({ name }) => name))

/**
 * The element type of ggml's number.
 * @throws UnsupportedQuantizationError, which names the tensor.
 */
export function elementType(tensor: string, type: number): ElementType {
  const known = plain.get(type) ?? blockFormats.get(type)
  if (known === undefined) throw new UnsupportedQuantizationError(tensor, type, supported)
  return known
}

/** A tensor's numbers as a fresh f32 array, from all its bytes. */
export function dequantized(tensor: string, type: ElementType, bytes: Uint8Array): Float32Array {
  if ('dtype' in type) return toFloat32(tensor, { dtype: type.dtype, shape: [bytes.length / type.bytes], data: bytes })
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const blocks = bytes.length / type.bytes
  const values = new Float32Array(blocks * type.elements)
  for (let block = 0; block < blocks; block++) type.unpack(view, block * type.bytes, values, block * type.elements)
  return values
}
