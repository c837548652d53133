import { float16At } from '../../floats.ts'
import type { BlockFormat } from './block-format.ts'
import { iq4Levels } from './iq4-levels.ts'

/** f16 scale d, 16 bytes of nibbles, each of which names a level: level · d. Numbers lie as in Q4_0. */
export const iq4_nl: BlockFormat = {
  name: 'IQ4_NL',
  elements: 32,
  bytes: 18,
  unpack(block, from, values, at) {
    const d = float16At(block, from)
    for (let j = 0; j < 16; j++) {
      const pair = block.getUint8(from + 2 + j)
      values[at + j] = (iq4Levels[pair & 0xf] as number) * d
      values[at + j + 16] = (iq4Levels[pair >> 4] as number) * d
    }
  },
}
