import { expect, it } from 'vitest'
import { present } from '../errors/index.ts'
import { readSafetensors, writeSafetensors } from '../model/index.ts'
import { average } from './average.ts'
import type { LearningRun } from './learning-run.ts'
import { scheduleOf } from './schedule-of.ts'
import { initialState } from './state.ts'

const fileOf = (value: number) => writeSafetensors(new Map([['w', { shape: [1], data: Float32Array.of(value) }]]))
const valueIn = (file: Uint8Array) =>
  new Float32Array(new Uint8Array(present(readSafetensors(file).tensors.get('w'), 'w').data).buffer)[0]

/** Averages weights of one number, one an update, while so much succeeds; what the average is, and what is learned on from. */
async function averaged(weights: readonly number[], overall: number, averaging = 0.85) {
  let kept: Uint8Array | null = null
  const [seen, returned]: [(number | undefined)[], (number | undefined)[]] = [[], []]
  for (const [update, value] of weights.entries()) {
    const trainer = {
      saveWeights: async () => fileOf(value),
      loadWeights: async (file: Uint8Array, moments: string) => {
        expect(moments).toBe('keep')
        returned.push(valueIn(file))
      },
    }
    const run = {
      state: { ...initialState, update, signs: [{ update: update + 1, groups: 4, informative: 1, overall }] },
      schedule: scheduleOf({ schedule: { averaging } }),
      trainer,
      kept: async () => kept,
      keep: async (_: string, file: Uint8Array) => {
        kept = file
      },
    }
    await average(run as unknown as LearningRun)
    seen.push(valueIn(present<Uint8Array>(kept, 'an average')))
  }
  return { seen, returned }
}

it('holds on to less of itself in the first updates', async () => {
  // Kept: nothing, 1/3, 1/2, then 0.5 of each.
  expect((await averaged([9, 3, 1, 3, 7], 0.9, 0.5)).seen).toEqual([9, 5, 3, 3, 5])
})

it('keeps the share that is wanted, in the end', async () => {
  const { seen } = await averaged([...Array.from({ length: 40 }, () => 0), 1], 0.9)
  expect(seen.at(-1)).toBeCloseTo(0.15, 6)
})

it('is learned on from after every fourth update, until most attempts succeed', async () => {
  const zeros = Array.from({ length: 9 }, () => 0)
  expect((await averaged(zeros, 0.69)).returned).toHaveLength(2)
  expect((await averaged(zeros, 0.7)).returned).toEqual([])
})
