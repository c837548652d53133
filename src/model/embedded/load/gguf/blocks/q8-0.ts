import { float16At } from '../../floats.ts'
import type { BlockFormat } from './block-format.ts'

/** f16 scale d, 32 signed bytes: q · d. */
export const q8_0: BlockFormat = {
  name: 'Q8_0',
  elements: 32,
  bytes: 34,
  unpack(block, from, values, at) {
    const d = float16At(block, from)
    for (let j = 0; j < 32; j++) values[at + j] = block.getInt8(from + 2 + j) * d
  },
}
