import { float16At } from '../../floats.ts'
import type { BlockFormat } from './block-format.ts'

/**
 * 32 bytes of third bits, 64 bytes of low bits, 12 bytes with 16 six-bit scales s, f16 d: q · (d · (s − 32)), where q is
 * the low bits, less 4 where the third bit is not set. Numbers lie as in Q2_K.
 */
export const q3_k: BlockFormat = {
  name: 'Q3_K',
  elements: 256,
  bytes: 110,
  unpack(block, from, values, at) {
    const d = float16At(block, from + 108)
    for (let group = 0; group < 16; group++) {
      const scale = d * (scaleOf(block, from + 96, group) - 32)
      const column = (group & 1) * 16
      const bytes = from + 32 + (group >> 3) * 32 + column
      const shift = group & 6
      const third = 1 << (group >> 1)
      for (let j = 0; j < 16; j++) {
        const low = (block.getUint8(bytes + j) >> shift) & 3
        values[at + group * 16 + j] = scale * (block.getUint8(from + column + j) & third ? low : low - 4)
      }
    }
  },
}

/** Low nibbles in the first 8 bytes, two at a byte eight apart; high pairs of bits in the last 4, four at a byte four apart. */
function scaleOf(block: DataView, from: number, group: number): number {
  const low = (block.getUint8(from + (group & 7)) >> (group < 8 ? 0 : 4)) & 0xf
  const high = (block.getUint8(from + 8 + (group & 3)) >> (2 * (group >> 2))) & 3
  return low | (high << 4)
}
