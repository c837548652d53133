const multiplier = 0xd256d193
const weyl = 0x9e3779b9

/**
 * A uniform number in [0, 1) with 53 random bits, as a pure function of a seed and a position: a sample does not depend
 * on what is drawn beside it. Philox-2x32 with ten rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
 * SC 2011).
 *
 * @param seed an integer in [0, 2⁵³)
 * @param position an integer in [0, 2³²)
 */
export function uniform(seed: number, position: number): number {
  const seedHigh = Math.floor(seed / 2 ** 32)
  let key = seed >>> 0
  let left = position >>> 0
  let right = seedHigh >>> 0
  for (let round = 0; round < 10; round++) {
    const high = multiplyHigh(left, multiplier)
    const low = Math.imul(left, multiplier)
    left = (high ^ key ^ right) >>> 0
    right = low >>> 0
    key = (key + weyl) >>> 0
  }
  return (left * 2 ** 21 + (right >>> 11)) / 2 ** 53
}

/**
 * The seed of one of a request's continuations: `seed + sample` modulo 2⁵³, whatever their size and sign. It is exact, so
 * 2⁵³ consecutive samples all differ; a double would round the sum.
 *
 * @param seed an integer that a double holds exactly
 * @param sample the continuation's index, from 0
 * @returns an integer in [0, 2⁵³), as {@link uniform} takes it
 */
export function sampleSeed(seed: number, sample: number): number {
  return Number(BigInt.asUintN(53, BigInt(seed) + BigInt(sample)))
}

/** The upper 32 bits of the product of two unsigned 32-bit integers. */
function multiplyHigh(a: number, b: number): number {
  const aLow = a & 0xffff
  const bLow = b & 0xffff
  const aHigh = a >>> 16
  const bHigh = b >>> 16
  const middle = aHigh * bLow + ((aLow * bLow) >>> 16)
  const cross = aLow * bHigh + (middle % 65536)
  return (aHigh * bHigh + Math.floor(middle / 65536) + Math.floor(cross / 65536)) >>> 0
}
