import { float16At } from '../../floats.ts'
import type { BlockFormat } from './block-format.ts'
import { iq2Points } from './iq2-points.ts'

/**
 * f16 d, then 8 bytes for each 32 numbers: four bytes that each name a point of eight magnitudes, and 32 bits with four
 * times seven signs and a scale s of four bits: ± magnitude · d · (½ + s) / 4. The eighth sign makes their number even.
 */
export const iq2_xxs: BlockFormat = {
  name: 'IQ2_XXS',
  elements: 256,
  bytes: 66,
  unpack(block, from, values, at) {
    const d = float16At(block, from)
    for (let group = 0; group < 8; group++) {
      const bytes = from + 2 + group * 8
      const packed = block.getUint32(bytes + 4, true)
      const scale = (d * (0.5 + (packed >>> 28))) / 4
      for (let four = 0; four < 4; four++) {
        const point = block.getUint8(bytes + four) * 8
        const signs = evenSigns((packed >>> (7 * four)) & 0x7f)
        for (let j = 0; j < 8; j++) {
          const magnitude = iq2Points[point + j] as number
          values[at + group * 32 + four * 8 + j] = scale * ((signs >> j) & 1 ? -magnitude : magnitude)
        }
      }
    }
  },
}

/** Seven sign bits and the eighth that makes the number of ones even. */
function evenSigns(seven: number): number {
  const folded = seven ^ (seven >> 4)
  return seven | (((0x6996 >> (folded & 0xf)) & 1) << 7)
}
