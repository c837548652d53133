import { float16At } from '../../floats.ts'
import type { BlockFormat } from './block-format.ts'

/** f16 scale d, f16 minimum m, 16 bytes of nibbles: q · d + m. The low nibbles are the first half of the block. */
export const q4_1: BlockFormat = {
  name: 'Q4_1',
  elements: 32,
  bytes: 20,
  unpack(block, from, values, at) {
    const [d, m] = [float16At(block, from), float16At(block, from + 2)]
    for (let j = 0; j < 16; j++) {
      const pair = block.getUint8(from + 4 + j)
      values[at + j] = (pair & 0xf) * d + m
      values[at + j + 16] = (pair >> 4) * d + m
    }
  },
}
