import { float16At } from '../../floats.ts'
import type { BlockFormat } from './block-format.ts'
import { scaleAndMinimum } from './six-bit-scales.ts'

/**
 * f16 d, f16 dmin, 12 bytes of scales s and minima m, 128 bytes of nibbles: q · (d · s) − dmin · m, one s and m for 32
 * numbers. 32 bytes hold two groups: the low nibbles are the first.
 */
export const q4_k: BlockFormat = {
  name: 'Q4_K',
  elements: 256,
  bytes: 144,
  unpack(block, from, values, at) {
    const [d, dmin] = [float16At(block, from), float16At(block, from + 2)]
    for (let group = 0; group < 8; group++) {
      const [s, m] = scaleAndMinimum(block, from + 4, group)
      const [scale, minimum] = [d * s, dmin * m]
      const bytes = from + 16 + (group >> 1) * 32
      const shift = (group & 1) * 4
      for (let j = 0; j < 32; j++) {
        values[at + group * 32 + j] = scale * ((block.getUint8(bytes + j) >> shift) & 0xf) - minimum
      }
    }
  },
}
