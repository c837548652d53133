import { InputError } from '../../../errors/index.ts'
import type { Dtype, StoredTensor } from './safetensors.ts'

/** Conversions from a tensor's bytes, which the function may keep. */
const conversions: Partial<Record<Dtype, (bytes: ArrayBuffer) => Float32Array>> = {
  F32: (bytes) => new Float32Array(bytes),
  F64: (bytes) => Float32Array.from(new Float64Array(bytes)),
  F16: (bytes) => fromFloat16(new Uint16Array(bytes)),
  BF16: (bytes) => fromBfloat16(new Uint16Array(bytes)),
}

/**
 * A tensor's elements as a fresh f32 array. F32, F16 and BF16 convert exactly; F64 rounds to nearest.
 * @throws InputError (`model/unsupported-dtype`) for every other element type.
 */
export function toFloat32(name: string, { dtype, data }: StoredTensor): Float32Array {
  const convert = conversions[dtype]
  if (convert === undefined)
    throw new InputError({
      code: 'model/unsupported-dtype',
      message: `Tensor ${JSON.stringify(name)} is stored as ${dtype}, which does not convert to f32.`,
      hint: 'Use a checkpoint stored as F32, F16 or BF16, not a quantised one.',
    })
  return convert(new Uint8Array(data).buffer)
}

/** bfloat16 is the upper half of an f32. */
function fromBfloat16(halves: Uint16Array): Float32Array {
  const bits = new Uint32Array(halves.length)
  for (let i = 0; i < halves.length; i++) bits[i] = (halves[i] as number) << 16
  return new Float32Array(bits.buffer)
}

/** The binary16 number that lies at a byte of `view`, little-endian. */
export function float16At(view: DataView, byte: number): number {
  return float16Values[view.getUint16(byte, true)] as number
}

/** IEEE 754 binary16 by table: there are only 65,536 values. */
function fromFloat16(halves: Uint16Array): Float32Array {
  const floats = new Float32Array(halves.length)
  for (let i = 0; i < halves.length; i++) floats[i] = float16Values[halves[i] as number] as number
  return floats
}

const float16Values = Float32Array.from({ length: 0x10000 }, (_, half) => {
  const sign = half & 0x8000 ? -1 : 1
  const exponent = (half >> 10) & 0x1f
  const fraction = half & 0x3ff
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN
  if (exponent === 0) return sign * fraction * 2 ** -24
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
})
