import { expect, it } from 'vitest'
import { present } from '../../../errors/index.ts'
import { bytesOf, readSafetensors, writeSafetensors } from '../../../model/index.ts'
import { averagePass, averageUpdate, settledWeights } from './average.ts'
import type { Schedule } from './schedule.ts'
import { scheduleOf } from './schedule-of.ts'

const fileOf = (value: number) => writeSafetensors(new Map([['w', { shape: [1], data: Float32Array.of(value) }]]))
const valueIn = (file: Uint8Array) =>
  new Float32Array(new Uint8Array(present(readSafetensors(file).tensors.get('w'), 'w').data).buffer)[0]

type Averaged = Parameters<typeof settledWeights>[0]

/** Weights that are one number each turn; what their average is then, and what is learned on from. */
async function averaged(
  weights: readonly number[],
  average: (one: Averaged, schedule: Schedule, turn: number) => Promise<void>,
  averaging = 0.85,
) {
  let [kept, now]: [Uint8Array | null, number] = [null, 0]
  const [seen, returned]: [(number | undefined)[], (number | undefined)[]] = [[], []]
  const schedule = scheduleOf({ schedule: { averaging } })
  const one = {
    trainer: {
      capabilities: { saves: 'bytes' },
      saveWeights: async () => fileOf(now),
      loadWeights: async (file: Uint8Array, moments: string) => {
        expect(moments).toBe('keep')
        returned.push(valueIn(file))
      },
    },
    kept: async () => kept,
    keep: async (_: string, file: Uint8Array) => {
      kept = file
    },
  } as unknown as Averaged
  for (const [turn, value] of weights.entries()) {
    now = value
    await average(one, schedule, turn)
    seen.push(valueIn(bytesOf(await settledWeights(one))))
  }
  return { seen, returned }
}
const updates = (overall: number) => (one: Averaged, schedule: Schedule, turn: number) =>
  averageUpdate(one, schedule, turn, overall)
const zeros = Array.from({ length: 40 }, () => 0)

it('holds on to less of itself in the first turns', async () => {
  // Kept: nothing, 1/3, 1/2, then 0.5 of each.
  expect((await averaged([9, 3, 1, 3, 7], updates(0.9), 0.5)).seen).toEqual([9, 5, 3, 3, 5])
})

it('keeps the share that is wanted, in the end: of passes less than of updates', async () => {
  expect((await averaged([...zeros, 1], updates(0.9))).seen.at(-1)).toBeCloseTo(0.15, 6)
  expect((await averaged([...zeros, 1], averagePass)).seen.at(-1)).toBeCloseTo(0.3, 6)
})

it('is learned on from after every fourth update, and where most attempts succeed after each validation', async () => {
  expect((await averaged(zeros.slice(0, 9), updates(0.69))).returned).toHaveLength(2)
  expect((await averaged(zeros.slice(0, 9), updates(0.7))).returned).toHaveLength(1)
  expect((await averaged(zeros, averagePass)).returned).toEqual([])
})

it('begins anew with the first update', async () => {
  const { seen } = await averaged([5, 7, 1, 1], (one, schedule, turn) =>
    turn < 2 ? averagePass(one, schedule, turn) : averageUpdate(one, schedule, turn - 2, 0.9),
  )
  expect(seen[2]).toBe(1)
})

it('is the weights as they are where none is wanted', async () => {
  const { seen, returned } = await averaged([3, 1, 3, 1, 3, 1, 3, 1], updates(0.5), 0)
  expect(seen).toEqual([3, 1, 3, 1, 3, 1, 3, 1])
  expect(returned).toEqual([])
})

it('of weights that nothing moves is these weights, to the bit', async () => {
  const { seen } = await averaged([0.1, 0.1, 0.1, 0.1, 0.1], updates(0.9), 0.7)
  expect(new Set(seen)).toEqual(new Set([Math.fround(0.1)]))
})
