import { float16At } from '../../floats.ts'
import type { BlockFormat } from './block-format.ts'

/**
 * 128 bytes of low nibbles, 64 bytes of high pairs of bits, 16 signed scales s, f16 d: (q − 32) · (d · s), one s for 16
 * numbers. Each half of the block is four runs of 32: two in the low nibbles of its 64 bytes, two in the high ones; the
 * runs' pairs of bits share 32 bytes.
 */
export const q6_k: BlockFormat = {
  name: 'Q6_K',
  elements: 256,
  bytes: 210,
  unpack(block, from, values, at) {
    const d = float16At(block, from + 208)
    for (let group = 0; group < 16; group++) {
      const scale = d * block.getInt8(from + 192 + group)
      const [half, run, column] = [group >> 3, (group >> 1) & 3, (group & 1) * 16]
      const low = from + half * 64 + (run & 1) * 32 + column
      const high = from + 128 + half * 32 + column
      for (let j = 0; j < 16; j++) {
        const nibble = (block.getUint8(low + j) >> (run < 2 ? 0 : 4)) & 0xf
        const pair = (block.getUint8(high + j) >> (2 * run)) & 3
        values[at + group * 16 + j] = scale * ((nibble | (pair << 4)) - 32)
      }
    }
  },
}
