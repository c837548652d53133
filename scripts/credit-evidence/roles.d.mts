import type { Rng } from '../../src/core/index.ts'
import type { Act, Policy } from './policy.mjs'

interface Question {
  readonly x: number
  readonly y: number
  readonly right: number
}
interface Turn {
  readonly acts: readonly (Act & { readonly said: string; readonly final?: number })[]
  readonly chosen: number
}

export const worth: (policy: Policy) => number
export const ways: (policy: Policy, question: Question, tries: number, draw: Rng) => Turn[][]
