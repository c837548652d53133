import type { GrammarMatcher } from '@mlc-ai/web-xgrammar'
import { afterEach, expect, it, vi } from 'vitest'
import { Matcher } from './matcher.ts'

afterEach(() => vi.restoreAllMocks())

/** Masks that take so many milliseconds each. */
function taking(each: number | ((mask: number) => number), again = false): Matcher {
  let [now, masks] = [0, 0]
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  const slow = {
    getNextTokenBitmask() {
      now += typeof each === 'number' ? each : each(masks++)
      return Promise.resolve(Int32Array.of(1))
    },
  }
  return new Matcher(slow as unknown as GrammarMatcher, again)
}

it('gives up a form whose masks keep others waiting', async () => {
  const matcher = taking(100)
  // One second at the start, and 50 ms for each.
  for (let i = 0; i < 20; i++) await matcher.allowed()
  await expect(matcher.allowed()).rejects.toMatchObject({
    code: 'model/unusable-grammar',
    message: expect.stringContaining('50 ms') as string,
  })
})

it('goes on with one that does not, however long it is', async () => {
  const matcher = taking(49)
  for (let i = 0; i < 2_000; i++) await matcher.allowed()
})

it('gives up one that grows slow as soon as one that was slow at once', async () => {
  const matcher = taking((mask) => (mask < 2_000 ? 1 : 100))
  for (let i = 0; i < 2_020; i++) await matcher.allowed()
  await expect(matcher.allowed()).rejects.toMatchObject({ code: 'model/unusable-grammar' })
})

it('has less patience with a later part of a sequence', async () => {
  const matcher = taking(100, true)
  for (let i = 0; i < 4; i++) await matcher.allowed()
  await expect(matcher.allowed()).rejects.toMatchObject({ code: 'model/unusable-grammar' })
})
