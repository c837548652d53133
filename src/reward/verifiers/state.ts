import { z } from 'zod'
import { type Json, parseInput } from '../../core/index.ts'
import type { RewardPart } from '../part.ts'
import { Expected, expectedOf } from './reading.ts'

const StateOptions = z.strictObject({
  /** What the state must hold, at least. */
  expected: Expected,
  /** Where in the final state. Default: all of it. */
  at: Expected.options[1].shape.at.default(''),
  /** The share of expected values that stand there, instead of all or nothing. Default no. */
  partial: z.boolean().default(false),
})

/**
 * How many of the values that are expected a state holds. An object may hold more than what is expected of it; a list must
 * be as long, in its order; a value must be equal.
 */
export function heldValues(state: Json | undefined, expected: Json): { readonly held: number; readonly of: number } {
  if (expected === null || typeof expected !== 'object') return { held: state === expected ? 1 : 0, of: 1 }
  const entries = Object.entries(expected)
  const fits = sameShape(state, expected)
  // An empty list or object is a value of its own.
  if (entries.length === 0) return { held: fits ? 1 : 0, of: 1 }
  const inner = new Map(fits && typeof state === 'object' && state !== null ? Object.entries(state) : [])
  return entries
    .map(([key, value]) => heldValues(inner.get(key), value))
    .reduce((sum, one) => ({ held: sum.held + one.held, of: sum.of + one.of }))
}

function sameShape(state: Json | undefined, expected: object): boolean {
  if (state === null || typeof state !== 'object' || Array.isArray(state) !== Array.isArray(expected)) return false
  return !Array.isArray(state) || state.length === Object.keys(expected).length
}

/**
 * A part from how the environment was left: 1 where it holds all that is expected, else 0, or with `partial` the share of
 * expected values that it holds; `null` where the environment did not say.
 * @throws InputError for options that it does not know.
 */
export function stateHolds(options: z.input<typeof StateOptions>): RewardPart {
  const { expected: of, at, partial } = parseInput(StateOptions, options, 'The verifier of a state')
  return {
    identity: `state:${JSON.stringify([of, at, partial])}`,
    score(trajectory) {
      const expected = expectedOf(trajectory, of)
      if (trajectory.finalState === null || expected === undefined) return null
      const { held, of: all } = heldValues(expectedOf(trajectory, { at }), expected)
      return partial ? held / all : Math.floor(held / all)
    },
  }
}
