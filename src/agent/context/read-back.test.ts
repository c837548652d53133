import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { ToolMessage } from './form.ts'
import { readBack } from './read-back.ts'

const results = (...contents: readonly string[]) =>
  new Map(contents.map((content, i): [string, ToolMessage] => [`r${i + 1}`, { role: 'tool', name: 'open', content }]))
const asked = async (given: Record<string, string | number>, contents: readonly string[], most = 100) =>
  readBack(
    () => results(...contents),
    () => most,
  ).answer(given)

it('shows a result word for word, in parts where it is long', async () => {
  expect(await asked({ id: 'r2' }, ['one', 'two'])).toEqual({ content: 'two' })
  expect(await asked({ id: 'r1' }, ['abcdefgh'], 5)).toEqual({
    content: '[r1, characters 0 to 5 of 8; go on from 5]\nabcde',
  })
  // Some dialects give all arguments as text.
  expect(await asked({ id: 'r1', from: '5' }, ['abcdefgh'], 5)).toEqual({
    content: '[r1, characters 5 to 8 of 8]\nfgh',
  })
})

it('says what is wrong with a call, and what to do', async () => {
  expect(await asked({}, [])).toMatchObject({ isError: true, content: expect.stringContaining('such as r3') })
  expect(await asked({ id: 'r1' }, [])).toMatchObject({ isError: true, content: 'there is no result yet' })
  expect(await asked({ id: 'r9' }, ['a', 'b', 'c'])).toMatchObject({
    isError: true,
    content: expect.stringContaining('they are r1 to r3'),
  })
  expect(await asked({ id: 'r1', from: 7 }, ['abc'])).toMatchObject({ isError: true })
  expect(await asked({ id: 'r1', from: -1 }, ['abc'])).toMatchObject({ isError: true })
})

it('its parts add up to the whole, and none ends within a character', async () => {
  const half = /\p{Surrogate}/u
  const texts = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(texts, fc.integer({ min: 4, max: 15 }), async (text, most) => {
      let whole = ''
      while (whole.length < text.length) {
        const { content, isError } = await asked({ id: 'r1', from: whole.length }, [text], most)
        expect(isError).toBeUndefined()
        const part = text.length <= most ? content : content.slice(content.indexOf('\n') + 1)
        if (!half.test(text)) expect(part).not.toMatch(half)
        whole += part
      }
      expect(whole).toBe(text)
    }),
    { numRuns: 30 },
  )
})
