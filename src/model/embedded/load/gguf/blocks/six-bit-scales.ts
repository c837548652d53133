/**
 * The scale and the minimum of one of eight groups of Q4_K and Q5_K, each of six bits, from the 12 bytes that begin at
 * `from`: those of the first four groups fill the low six bits of 8 bytes; the others have their low four bits in the last
 * 4 bytes, and their high two bits above the first ones'.
 */
export function scaleAndMinimum(block: DataView, from: number, group: number): readonly [number, number] {
  if (group < 4) return [block.getUint8(from + group) & 63, block.getUint8(from + group + 4) & 63]
  const low = block.getUint8(from + group + 4)
  return [
    (low & 0xf) | ((block.getUint8(from + group - 4) >> 6) << 4),
    (low >> 4) | ((block.getUint8(from + group) >> 6) << 4),
  ]
}
