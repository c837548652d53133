import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rng } from '../../core/index.ts'
import { type Attempted, rateOf, recorded, type Standing } from './standing.ts'
import { collapsed, isRising, reasonToStop, type StopRule, type UpdateSign } from './watch.ts'

/** Tasks with four attempts each, which all end as the task does. */
const batchOf = (tasks: readonly { readonly family: string; readonly success: boolean }[]): readonly Attempted[] =>
  tasks.flatMap((one, i) => Array.from({ length: 4 }, () => ({ task: `t${i}`, ...one })))
const ofFamily = (family: string, tasks: number, successes: number) =>
  batchOf(Array.from({ length: tasks }, (_, i) => ({ family, success: i < successes })))

const steady: Standing = { a: { attempts: 99, successes: 39.5 } } // 40 / 100: a rate of 0.4.

describe('a rise', () => {
  const signsOf = (rates: readonly number[]): UpdateSign[] =>
    rates.map((overall, i) => ({ update: i + 1, groups: 32, informative: 8, overall }))

  it('is one of the mean of a window over that of the one before', () => {
    expect(isRising(signsOf([0.9, 0.4, 0.5, 0.5, 0.45]), 2)).toBe(true) // 0.475 after 0.45
    expect(isRising(signsOf([0.1, 0.4, 0.5, 0.5, 0.42]), 2)).toBe(false) // 0.46 after 0.45
  })

  it('is taken for granted while there are too few updates to tell', () => {
    expect(isRising(signsOf([0.5, 0.4, 0.3]), 2)).toBe(true)
    expect(isRising([], 2)).toBe(true)
  })
})

describe('collapsed', () => {
  it('sees a fall to nothing from 0.4', () => {
    expect(collapsed(steady, ofFamily('a', 32, 0))).toBe(true)
  })

  it('sees no fall that could be chance: three deviations, with twice the variance of the tasks', () => {
    // Of 100 tasks 40 are expected; √(2 · 100 · 0.24) = 6.93, so fewer than 19.2 are a fall.
    expect(collapsed(steady, ofFamily('a', 100, 19))).toBe(true)
    expect(collapsed(steady, ofFamily('a', 100, 20))).toBe(false)
  })

  it('sees no fall that leaves half of what was expected, however sure it is', () => {
    expect(collapsed(steady, ofFamily('a', 1000, 200))).toBe(false)
    expect(collapsed(steady, ofFamily('a', 1000, 199))).toBe(true)
  })

  it('says nothing where fewer than four successes were expected, or families are new', () => {
    const mastered: Standing = { a: { attempts: 1000, successes: 1000 } }
    expect(collapsed(mastered, ofFamily('a', 4, 0))).toBe(false)
    expect(collapsed(mastered, ofFamily('a', 5, 0))).toBe(true)
    expect(collapsed(mastered, ofFamily('b', 32, 0))).toBe(false)
    expect(collapsed({}, ofFamily('constructor', 32, 0))).toBe(false)
    expect(collapsed(steady, [])).toBe(false)
  })

  it('counts a task once, however often it was attempted', () => {
    const mastered: Standing = { a: { attempts: 1000, successes: 1000 } }
    const often = Array.from({ length: 400 }, (_, i) => ({ task: `t${i % 4}`, family: 'a', success: false }))
    expect(collapsed(mastered, often)).toBe(false)
  })

  const families = ['a', 'b', 'c'] as const
  const standings = fc.record(
    Object.fromEntries(
      families.map((family) => [
        family,
        fc.tuple(fc.integer({ min: 1, max: 200 }), fc.double({ min: 0, max: 1, noNaN: true })),
      ]),
    ),
  )
  const standingOf = (tallies: Readonly<Record<string, readonly [number, number]>>): Standing =>
    Object.fromEntries(
      Object.entries(tallies).map(([family, [attempts, share]]) => [family, { attempts, successes: attempts * share }]),
    )

  it('is never seen in a batch at or above what was expected', () => {
    fc.assert(
      fc.property(standings, fc.array(fc.constantFrom(...families), { maxLength: 64 }), (tallies, drawn) => {
        const before = standingOf(tallies)
        const expected = drawn.reduce((sum, family) => sum + rateOf(before, family), 0)
        const batch = batchOf(drawn.map((family, i) => ({ family, success: i < Math.ceil(expected) })))
        expect(collapsed(before, batch)).toBe(false)
      }),
    )
  })

  it('does not depend on the order of the attempts', () => {
    const attempt = fc.record({ task: fc.nat(40), success: fc.boolean() })
    fc.assert(
      fc.property(standings, fc.array(attempt, { maxLength: 80 }), fc.nat(), (tallies, seen, seed) => {
        const batch = seen.map(({ task, success }) => ({ task: `${task}`, family: families[task % 3] ?? 'a', success }))
        const before = standingOf(tallies)
        expect(collapsed(before, rng(seed).shuffle(batch))).toBe(collapsed(before, batch))
      }),
    )
  })
})

describe('collapsed, over 2,000 batches of 32 tasks whose attempts end alike', () => {
  const rates = { a: 0.1, b: 0.4, c: 0.7, d: 0.95 }
  const names = Object.keys(rates) as readonly (keyof typeof rates)[]
  const drawn = (random: ReturnType<typeof rng>, rateAt: (family: keyof typeof rates) => number, tasks = 32) =>
    batchOf(
      Array.from({ length: tasks }, () => {
        const family = names[random.int(names.length)] ?? 'a'
        return { family, success: random.next() < rateAt(family) }
      }),
    )
  const falls = (
    standing: (random: ReturnType<typeof rng>) => Standing,
    rateAt: (family: keyof typeof rates) => number,
  ) =>
    Array.from({ length: 2000 }, (_, i) => rng('batches', i)).filter((random) =>
      collapsed(standing(random), drawn(random, rateAt)),
    ).length

  it('is not seen in a policy that is as it was, where its rates are known', () => {
    const known = Object.fromEntries(names.map((name) => [name, { attempts: 400, successes: 400 * rates[name] }]))
    expect(
      falls(
        () => known,
        (family) => rates[family],
      ),
    ).toBeLessThan(2)
  })

  it('and hardly ever where they were measured on a few batches of such tasks', () => {
    const measured = (random: ReturnType<typeof rng>) =>
      [1, 2, 3].reduce<Standing>(
        (before) =>
          recorded(
            before,
            drawn(random, (family) => rates[family]),
          ),
        {},
      )
    expect(falls(measured, (family) => rates[family])).toBeLessThan(10)
  })

  it('is always seen in one that fell to 0 from 0.4', () => {
    const known = Object.fromEntries(names.map((name) => [name, { attempts: 400, successes: 160 }]))
    expect(
      falls(
        () => known,
        () => 0,
      ),
    ).toBe(2000)
  })
})

describe('reasonToStop', () => {
  const rule: StopRule = { silent: 3, still: 6 }
  const signs = (overall: readonly number[], informative = 8, groups = 32): readonly UpdateSign[] =>
    overall.map((value, i) => ({ update: i + 1, groups, informative, overall: value }))

  it('is none before anything was seen', () => {
    expect(reasonToStop([], rule)).toBeNull()
  })

  it('is silence when of enough updates in a row at most one group in 32 told anything', () => {
    expect(reasonToStop(signs([0, 0, 0], 1), rule)).toBe('silent')
    expect(reasonToStop(signs([0, 0], 1), rule)).toBeNull()
    expect(reasonToStop(signs([0, 0, 0], 2), rule)).toBeNull()
    expect(reasonToStop([...signs([0, 0], 1), ...signs([0], 2), ...signs([0, 0], 1)], rule)).toBeNull()
    expect(reasonToStop(signs([0, 0, 0], 0, 0), rule), 'updates that got no group').toBe('silent')
  })

  it('is no silence while success rises: successes that are imitated teach', () => {
    const six = { ...rule, silent: 6, still: 40 }
    expect(reasonToStop(signs([0.5, 0.5, 0.5, 0.52, 0.53, 0.54], 0), six)).toBeNull()
    expect(reasonToStop(signs([0.5, 0.5, 0.5, 0.52, 0.52, 0.52], 0), six)).toBe('silent')
  })

  it('is stillness when four updates are no better than any four that ended that long ago', () => {
    const flat = Array.from({ length: 10 }, () => 0.3)
    expect(reasonToStop(signs(flat), rule)).toBe('still')
    expect(reasonToStop(signs(flat.slice(1)), rule)).toBeNull()
    const rising = [0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.34, 0.34, 0.34, 0.34]
    expect(reasonToStop(signs(rising), rule)).toBeNull()
    expect(reasonToStop(signs(rising.map((value) => (value === 0.34 ? 0.32 : value))), rule)).toBe('still')
    expect(reasonToStop(signs([0.6, 0.6, 0.6, 0.6, ...rising]), rule), 'a rise to less than there was').toBe('still')
  })

  it('is none where a rule is never', () => {
    const never = { silent: Number.POSITIVE_INFINITY, still: Number.POSITIVE_INFINITY }
    expect(
      reasonToStop(
        signs(
          Array.from({ length: 200 }, () => 0),
          0,
        ),
        never,
      ),
    ).toBeNull()
  })

  it('is none where nearly everything succeeds', () => {
    const some = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 40 })
    fc.assert(
      fc.property(some, fc.double({ min: 0.9, max: 1, noNaN: true }), fc.nat(32), (before, last, informative) => {
        expect(reasonToStop(signs([...before, last], informative), rule)).toBeNull()
      }),
    )
  })
})
