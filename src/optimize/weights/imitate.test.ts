import { expect, it } from 'vitest'
import { recordingTrainer } from '../../../test/support/recording-trainer.ts'
import { rng } from '../../core/index.ts'
import { imitate, type ImitateOptions } from './imitate.ts'

/** A demonstration of two turns of one token, of things with this name. */
const demonstration = (name: number) => ({ tokens: [0, name, 0, name], learn: [false, true, false, true] })
const some = (from: number, count: number) => Array.from({ length: count }, (_, i) => demonstration(from + i))

async function learned(options: ImitateOptions, key = 'a') {
  const { trainer, passes } = recordingTrainer(1000)
  await imitate({ batchSize: 1000, ...options }).imitate({ trainer, demonstrations: some(1, 20), rng: rng(key) })
  return passes.flatMap(({ data }) => data).map(({ target, weights = [] }) => ({ name: target[0] ?? 0, weights }))
}
const share = (weights: readonly number[]) => weights.map((weight) => Math.sign(weight))

it.each([
  ['all', [1, 0, 1]],
  ['first', [1, 0, 0]],
  ['rest', [0, 0, 1]],
  ['last', [0, 0, 1]],
] as const)('learns %s turns', async (turns, flags) => {
  for (const { weights } of await learned({ turns })) expect(share(weights)).toEqual(flags)
})

it('mixes other things in, so many that they are the stated share, whole', async () => {
  const general = { demonstrations: some(500, 300), share: 0.8 }
  const found = await learned({ turns: 'last', general })
  const others = found.filter(({ name }) => name >= 500)
  expect(found).toHaveLength(100)
  expect(others).toHaveLength(80)
  expect(new Set(others.map(({ name }) => name)).size).toBe(80)
  for (const { weights } of others) expect(share(weights)).toEqual([1, 0, 1])
  const again = async (key: string) =>
    (await learned({ general }, key)).map(({ name }) => name).toSorted((a, b) => a - b)
  expect(await again('a')).toEqual(await again('a'))
  expect(await again('b')).not.toEqual(await again('a'))
})

it.each([
  [{ demonstrations: some(1, 1), share: 1 }, 'share of general data is 1'],
  [{ demonstrations: some(1, 1), share: Number.NaN }, 'share of general data is NaN'],
  [{ demonstrations: [], share: 0.5 }, 'there is none'],
] as const)('refuses %j', (general, message) => {
  expect(() => imitate({ general })).toThrow(message)
})
