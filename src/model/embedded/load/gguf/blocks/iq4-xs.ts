import { float16At } from '../../floats.ts'
import type { BlockFormat } from './block-format.ts'
import { iq4Levels } from './iq4-levels.ts'

/**
 * f16 d, 8 high pairs of bits and 8 low nibbles of scales s, 128 bytes of nibbles, each of which names a level:
 * level · (d · (s − 32)), one s for 32 numbers. 16 bytes are one group: the low nibbles are its first half.
 */
export const iq4_xs: BlockFormat = {
  name: 'IQ4_XS',
  elements: 256,
  bytes: 136,
  unpack(block, from, values, at) {
    const d = float16At(block, from)
    const highs = block.getUint16(from + 2, true)
    for (let group = 0; group < 8; group++) {
      const low = (block.getUint8(from + 4 + (group >> 1)) >> ((group & 1) * 4)) & 0xf
      const scale = d * ((low | (((highs >> (2 * group)) & 3) << 4)) - 32)
      for (let j = 0; j < 16; j++) {
        const pair = block.getUint8(from + 8 + group * 16 + j)
        values[at + group * 32 + j] = scale * (iq4Levels[pair & 0xf] as number)
        values[at + group * 32 + 16 + j] = scale * (iq4Levels[pair >> 4] as number)
      }
    }
  },
}
