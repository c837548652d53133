import { GateError } from './errors.ts'

/** Lowest and highest score there is. */
export type RewardRange = readonly [low: number, high: number]

/** @throws GateError when it is not two finite numbers, the lower first. */
export function checkRange([low, high]: RewardRange): void {
  if (Number.isFinite(low) && Number.isFinite(high) && low < high) return
  throw new GateError({
    code: 'gate/reward-range',
    message: `The range of rewards [${low}, ${high}] is not one.`,
    hint: 'Give the floor and the ceiling of the rubric, both finite, the floor first.',
  })
}
