import { float16At } from '../../floats.ts'
import type { BlockFormat } from './block-format.ts'

/** f16 scale d, f16 minimum m, 32 fifth bits, 16 bytes of nibbles: q · d + m. */
export const q5_1: BlockFormat = {
  name: 'Q5_1',
  elements: 32,
  bytes: 24,
  unpack(block, from, values, at) {
    const [d, m] = [float16At(block, from), float16At(block, from + 2)]
    const fifth = block.getUint32(from + 4, true)
    for (let j = 0; j < 16; j++) {
      const pair = block.getUint8(from + 8 + j)
      values[at + j] = ((pair & 0xf) | (((fifth >>> j) & 1) << 4)) * d + m
      values[at + j + 16] = ((pair >> 4) | (((fifth >>> (j + 16)) & 1) << 4)) * d + m
    }
  },
}
