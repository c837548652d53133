import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { rng } from '../../core/index.ts'
import { allocate, teaches } from './allocate.ts'
import type { Standing } from './standing.ts'

const familyOf = (task: string) => task.slice(0, 1)

it('a family teaches most where success is a matter of chance, and none teaches nothing', () => {
  const standing = { dead: { attempts: 99, successes: 0 }, mastered: { attempts: 99, successes: 99 } }
  // Laplace: 0.5 / 100, so 0.25 + 4 · 0.005 · 0.995.
  expect(teaches(standing, 'dead')).toBeCloseTo(0.2699, 9)
  expect(teaches(standing, 'mastered')).toBeCloseTo(0.2699, 9)
  expect(teaches(standing, 'never tried')).toBe(1.25)
})

it('draws every task at most once, and as many as there are and are wanted', () => {
  const tally = fc.record({ attempts: fc.nat(50), successes: fc.nat(50) }).map(({ attempts, successes }) => ({
    attempts,
    successes: Math.min(attempts, successes),
  }))
  const standings = fc.dictionary(fc.constantFrom('a', 'b', 'c'), tally)
  const tasks = fc.uniqueArray(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.nat(99)).map((parts) => parts.join('')))
  fc.assert(
    fc.property(tasks, fc.nat(40), standings, fc.nat(), (all, count, standing, seed) => {
      const drawn = allocate(all, familyOf, count, standing, rng(seed))
      expect(drawn).toHaveLength(Math.min(count, all.length))
      expect(new Set(drawn).size).toBe(drawn.length)
      expect(drawn.every((task) => all.includes(task))).toBe(true)
      expect(allocate(all, familyOf, count, standing, rng(seed)), 'equal seeds draw alike').toEqual(drawn)
    }),
  )
})

it('draws families in proportion to what they teach', () => {
  const standing: Standing = { a: { attempts: 99, successes: 0 }, b: { attempts: 99, successes: 49.5 } }
  const tasks = Array.from({ length: 400 }, (_, i) => `${i % 2 === 0 ? 'a' : 'b'}${i}`)
  const random = rng('shares')
  let [drawn, ofB] = [0, 0]
  for (let i = 0; i < 200; i++) {
    const some = allocate(tasks, familyOf, 10, standing, random)
    drawn += some.length
    ofB += some.filter((task) => familyOf(task) === 'b').length
  }
  // Few of many: as good as independent draws, of which a family's share is its weight's, 1.25 of 1.52.
  expect(ofB / drawn).toBeGreaterThan(0.79)
  expect(ofB / drawn).toBeLessThan(0.85)
})

it('takes a generator that returns 0', () => {
  const always = { ...rng(0), next: () => 0 }
  expect(allocate(['a1', 'b1', 'c1'], familyOf, 2, {}, always)).toHaveLength(2)
})
