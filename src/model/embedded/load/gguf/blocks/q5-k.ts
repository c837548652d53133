import { float16At } from '../../floats.ts'
import type { BlockFormat } from './block-format.ts'
import { scaleAndMinimum } from './six-bit-scales.ts'

/** As Q4_K, with 32 bytes of fifth bits before the nibbles: the bit of a byte is the group's number. */
export const q5_k: BlockFormat = {
  name: 'Q5_K',
  elements: 256,
  bytes: 176,
  unpack(block, from, values, at) {
    const [d, dmin] = [float16At(block, from), float16At(block, from + 2)]
    for (let group = 0; group < 8; group++) {
      const [s, m] = scaleAndMinimum(block, from + 4, group)
      const [scale, minimum] = [d * s, dmin * m]
      const bytes = from + 48 + (group >> 1) * 32
      const shift = (group & 1) * 4
      for (let j = 0; j < 32; j++) {
        const fifth = ((block.getUint8(from + 16 + j) >> group) & 1) << 4
        values[at + group * 32 + j] = scale * (((block.getUint8(bytes + j) >> shift) & 0xf) | fifth) - minimum
      }
    }
  },
}
