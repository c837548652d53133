import { float16At } from '../../floats.ts'
import type { BlockFormat } from './block-format.ts'

/** f16 scale d, 32 fifth bits, 16 bytes of nibbles: (q − 16) · d. */
export const q5_0: BlockFormat = {
  name: 'Q5_0',
  elements: 32,
  bytes: 22,
  unpack(block, from, values, at) {
    const d = float16At(block, from)
    const fifth = block.getUint32(from + 2, true)
    for (let j = 0; j < 16; j++) {
      const pair = block.getUint8(from + 6 + j)
      values[at + j] = (((pair & 0xf) | (((fifth >>> j) & 1) << 4)) - 16) * d
      values[at + j + 16] = (((pair >> 4) | (((fifth >>> (j + 16)) & 1) << 4)) - 16) * d
    }
  },
}
