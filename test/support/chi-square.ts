import type { SampledSequence } from '../../src/core/index.ts'

/** Cells of about equal probability that a first token falls into. */
export interface Cells {
  /** Probability of each, by the sampler's own word. */
  readonly mass: readonly number[]
  readonly of: (sequence: SampledSequence) => number
}

const wanted = 4

/**
 * Cells over the first tokens of many samples. A token weighs what its behaviour log-probability says; tokens that were
 * never drawn belong to the last cell.
 */
export function cellsOf(drawn: readonly SampledSequence[]): Cells {
  const probability = new Map(
    drawn.map(({ tokens, behaviourLogprobs }) => [tokens[0]!, Math.exp(behaviourLogprobs[0]!)]),
  )
  const cell = new Map<number, number>()
  const mass: number[] = [0]
  let below = 0
  for (const [token, p] of [...probability].sort(([a], [b]) => a - b)) {
    if (mass.at(-1)! >= 1 / wanted && 1 - below > 1 / (2 * wanted)) mass.push(0)
    cell.set(token, mass.length - 1)
    mass[mass.length - 1]! += p
    below += p
  }
  mass[mass.length - 1]! += 1 - below
  return { mass, of: ({ tokens }) => cell.get(tokens[0]!)! }
}

/**
 * χ² of disjoint pairs of draws `lag` apart against independent draws with these probabilities. It is large where single
 * draws are wrong, and where neighbours depend on each other: each alone may look right.
 */
export function pairedChiSquare(draws: readonly number[], mass: readonly number[], lag: number) {
  const size = mass.length
  const counts = Array<number>(size * size).fill(0)
  let pairs = 0
  for (let start = 0; start + 2 * lag <= draws.length; start += 2 * lag) {
    for (let i = start; i < start + lag; i++) {
      counts[draws[i]! * size + draws[i + lag]!]! += 1
      pairs += 1
    }
  }
  const chiSquare = counts.reduce((sum, count, i) => {
    const expected = pairs * mass[Math.floor(i / size)]! * mass[i % size]!
    return sum + (count - expected) ** 2 / expected
  }, 0)
  return { chiSquare, freedom: size * size - 1 }
}

/** What χ² exceeds with probability 1e-6, after Wilson and Hilferty (1931): to 1 % from three degrees of freedom on. */
export function onceInAMillion(freedom: number): number {
  const spread = 2 / (9 * freedom)
  return freedom * (1 - spread + 4.753424 * Math.sqrt(spread)) ** 3
}
