import { describe, expect, it } from 'vitest'
import { rng } from '../../core/index.ts'
import { differenceAbove, type Observation } from './difference-test.ts'
import { farAbove, relativeTo } from './relative.ts'

const LIVES = 200
/** 200 draws at 0.05 exceed this with probability below 0.001. */
const BOUND = 21
const SHOWN = -Math.log(0.05)

type Next = () => number
/** Values of many sizes, as times and costs have them. */
const spread =
  (width: number) =>
  (next: Next): number =>
    Math.exp(width * Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()))
const pareto = (next: Next): number => (1 - next()) ** (-1 / 1.1)

/** One canary: `times` says how much more than the usual a session of the candidate takes. */
function* measured(next: Next, usual: (next: Next) => number, times: (next: Next) => number, sessions: number) {
  for (let i = 0; i < sessions; i++) {
    const propensity = i < sessions / 3 ? 0.1 : 0.5
    const candidate = next() < propensity
    yield { candidate, propensity, value: usual(next) * (candidate ? times(next) : 1) } satisfies Observation
  }
}

function shown(
  name: string,
  usual: (next: Next) => number,
  times: (next: Next) => number,
  { lives = LIVES, sessions = 600, way = farAbove } = {},
): number {
  const stream = rng('tails', name)
  return Array.from({ length: lives }, () => {
    const all = [...measured(() => stream.next(), usual, times, sessions)]
    return differenceAbove(way(all, 0.5), 0).most >= SHOWN
  }).filter(Boolean).length
}

describe('a tail', () => {
  it.each([
    ['alike', spread(1), () => 1],
    ['alike, of a very long tail', pareto, () => 1],
    ['just as much more as is tolerated', spread(1), () => 1.5],
    ['just as much more, of a very long tail', pareto, () => 1.5],
    ['dearer by what is tolerated in half of the sessions', spread(0.5), (next: Next) => (next() < 0.5 ? 1.5 : 1)],
    ['nothing at all', () => 0, () => 1],
  ])('of what is tolerated is shown no more often than the level: %s', (name, usual, times) => {
    expect(shown(name, usual, times)).toBeLessThanOrEqual(BOUND)
  })

  it('of one session in ten that costs a hundred times as much is seen, where the median does not see it', () => {
    const dear = (next: Next) => (next() < 0.1 ? 100 : 1)
    const how = { lives: 30, sessions: 1_200 }
    expect(shown('dear', spread(1), dear, how)).toBe(30)
    expect(shown('dear', spread(1), dear, { ...how, way: relativeTo })).toBe(0)
  })

  it('is measured by what came before alone, in whatever unit, and tells nothing of the first sessions', () => {
    const values = Array.from(
      { length: 40 },
      (_, i): Observation => ({ candidate: i % 2 === 0, propensity: 0.5, value: i === 39 ? 1000 : 7 }),
    )
    const far = farAbove(values, 0)
    expect(far.slice(0, 20).every(({ value }) => value === null)).toBe(true)
    expect(far.slice(20).map(({ value }) => value)).toEqual([...Array.from({ length: 19 }, () => 0), 1])
    expect(
      farAbove(
        values.map((one) => ({ ...one, value: (one.value ?? 0) * 1e-4 })),
        0,
      ),
    ).toEqual(far)
    expect(farAbove(values.slice(0, 30), 0)).toEqual(far.slice(0, 30))
  })
})
