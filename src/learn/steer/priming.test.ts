import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { afterLook, bestLook, type PrimingLook, type PrimingTarget } from './priming.ts'

const target: PrimingTarget = { success: 0.5, informative: 0.45, patience: 2, passes: 32, hopeless: 1 / 24 }

type Seen = readonly [success: number, informative: number]

/** Looks four passes apart. */
const looks = (...seen: Seen[]): readonly PrimingLook[] =>
  seen.map(([success, informative], i) => ({ pass: 4 * (i + 1), success, informative }))
const verdict = (...seen: Seen[]) => afterLook(looks(...seen), target)

it('imitates before the first look, and while success rises', () => {
  expect(afterLook([], target)).toBe('imitate')
  expect(verdict([0, 0])).toBe('imitate')
  expect(verdict([0.1, 0.1], [0.2, 0.2], [0.3, 0.3])).toBe('imitate')
})

it('is ready when the last look reaches either target, and not for an earlier one', () => {
  expect(verdict([0.5, 0])).toBe('ready')
  expect(verdict([0.1, 0.45])).toBe('ready')
  expect(verdict([0.49, 0.44])).toBe('imitate')
  expect(verdict([0.6, 0.5], [0.1, 0.1])).toBe('imitate')
})

it('ends at the best when success has not risen for as many looks as it is patient', () => {
  expect(verdict([0.3, 0.2], [0.2, 0.2])).toBe('imitate')
  expect(verdict([0.3, 0.2], [0.2, 0.2], [0.3, 0.2])).toBe('best')
  expect(verdict([0.2, 0.2], [0.3, 0.2], [0.2, 0.2])).toBe('imitate')
})

it('waits twice as long while hardly anything succeeds', () => {
  const few: Seen = [0.05, 0.05]
  expect(verdict(few, few, few, few)).toBe('imitate')
  expect(verdict(few, few, few, few, few)).toBe('best')
  expect(verdict(few, few, few, [0.12, 0.1], few)).toBe('imitate')
})

it('counts a rise of less than a twentieth as none, and goes back to the best all the same', () => {
  const looked = looks([0.3, 0.2], [0.32, 0.2], [0.34, 0.2])
  expect(afterLook(looked, target)).toBe('best')
  expect(bestLook(looked)?.pass).toBe(12)
  expect(verdict([0.2, 0.2], [0.24, 0.2], [0.25, 0.2]), 'small rises that add up').toBe('imitate')
})

it('waits until the last pass for a first success, and then is hopeless', () => {
  const nothing = Array.from({ length: 7 }, (): Seen => [0, 0])
  expect(verdict(...nothing)).toBe('imitate')
  expect(verdict(...nothing, [0, 0])).toBe('hopeless')
})

it('is hopeless at a best look whose groups tell nothing', () => {
  expect(verdict([0.3, 0], [0.2, 0.4], [0.2, 0.4])).toBe('hopeless')
  expect(verdict([0.3, 1 / 24], [0.2, 0], [0.2, 0])).toBe('best')
  expect(verdict([0.3, 1 / 24], [0.32, 0], [0.2, 0]), 'none in the best look by chance').toBe('best')
})

it('the best look is the latest of those that differ from the most success by chance', () => {
  expect(bestLook([])).toBeNull()
  expect(bestLook(looks([0, 0], [0, 0]))?.pass).toBe(8)
  expect(bestLook(looks([0.1, 0.4], [0.3, 0.1], [0.26, 0.4], [0.2, 0.2]))?.pass).toBe(12)
})

it('never goes on at the last pass, and never gives up on what is ready', () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(fc.array(fc.tuple(share, share), { minLength: 1, maxLength: 12 }), (seen) => {
      const all = looks(...seen)
      const last = all.at(-1)!
      expect(afterLook(all, { ...target, passes: last.pass })).not.toBe('imitate')
      const reached = last.success >= target.success || last.informative >= target.informative
      expect(afterLook(all, target) === 'ready').toBe(reached)
    }),
  )
})
