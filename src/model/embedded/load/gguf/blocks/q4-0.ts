import { float16At } from '../../floats.ts'
import type { BlockFormat } from './block-format.ts'

/** f16 scale d, 16 bytes of nibbles: (q − 8) · d. The low nibbles are the first half of the block. */
export const q4_0: BlockFormat = {
  name: 'Q4_0',
  elements: 32,
  bytes: 18,
  unpack(block, from, values, at) {
    const d = float16At(block, from)
    for (let j = 0; j < 16; j++) {
      const pair = block.getUint8(from + 2 + j)
      values[at + j] = ((pair & 0xf) - 8) * d
      values[at + j + 16] = ((pair >> 4) - 8) * d
    }
  },
}
