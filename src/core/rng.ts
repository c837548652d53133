import { sha256 } from './hash.ts'

/** A source of uniform random numbers. */
export interface Rng {
  /** Uniform in [0, 1). */
  next(): number
  /** Uniform integer in [0, bound). */
  int(bound: number): number
  /** A shuffled copy (Fisher–Yates). */
  shuffle<T>(items: readonly T[]): T[]
}

/** A 32-bit seed that depends on every part: randomness is keyed by run, task, attempt and position (invariant 12). */
export function seedOf(...parts: readonly (string | number)[]): number {
  return Number.parseInt(sha256(JSON.stringify(parts)).slice(0, 8), 16)
}

/** A generator keyed by its parts; equal parts give equal streams (mulberry32 over {@link seedOf}). */
export function rng(...parts: readonly (string | number)[]): Rng {
  let state = seedOf(...parts)
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  const int = (bound: number) => Math.floor(next() * bound)
  return {
    next,
    int,
    shuffle<T>(items: readonly T[]): T[] {
      const copy = [...items]
      for (let i = copy.length - 1; i > 0; i--) {
        const j = int(i + 1)
        const a = copy[i] as T
        copy[i] = copy[j] as T
        copy[j] = a
      }
      return copy
    },
  }
}
