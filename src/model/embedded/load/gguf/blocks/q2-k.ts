import { float16At } from '../../floats.ts'
import type { BlockFormat } from './block-format.ts'

/**
 * 16 bytes, each a 4-bit scale s and a 4-bit minimum m; 64 bytes of two-bit q; f16 d; f16 dmin: q · (d · s) − dmin · m,
 * one s and m for 16 numbers. Each half of the block keeps its 128 numbers in 32 bytes, 32 numbers in each pair of bits.
 */
export const q2_k: BlockFormat = {
  name: 'Q2_K',
  elements: 256,
  bytes: 84,
  unpack(block, from, values, at) {
    const [d, dmin] = [float16At(block, from + 80), float16At(block, from + 82)]
    for (let group = 0; group < 16; group++) {
      const packed = block.getUint8(from + group)
      const [scale, minimum] = [d * (packed & 0xf), dmin * (packed >> 4)]
      const bytes = from + 16 + (group >> 3) * 32 + (group & 1) * 16
      const shift = group & 6
      for (let j = 0; j < 16; j++) {
        values[at + group * 16 + j] = scale * ((block.getUint8(bytes + j) >> shift) & 3) - minimum
      }
    }
  },
}
