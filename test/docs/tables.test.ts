import { expect, it } from 'vitest'
import { z } from 'zod'
import { configurationRows, refreshed, unexplained } from './tables.ts'

const headings = ['key', 'type', 'meaning']
const document =
  'before\n\n| key | type | meaning |\n|---|---|---|\n| `a` | old | what a \\| b is |\n| `gone` | x | y |\n\nafter\n'

it('a table is brought up to date and keeps what people wrote', () => {
  const fresh = refreshed(document, headings, [
    ['`a`', 'new'],
    ['`b`', 'other'],
  ])
  expect(fresh).toBe(
    'before\n\n| key | type | meaning |\n|---|---|---|\n| `a` | new | what a \\| b is |\n| `b` | other |  |\n\nafter\n',
  )
  expect(unexplained(fresh, headings)).toEqual(['`b`'])
  expect(unexplained(document, headings)).toEqual([])
  expect(() => refreshed('nothing', headings, [])).toThrow('there is no table')
})

it('a configuration is a row for each key', () => {
  const schema = z.strictObject({
    name: z.string().default('x'),
    inner: z
      .strictObject({ n: z.int().positive().max(9).default(3), list: z.array(z.string()).optional() })
      .prefault({}),
    either: z.union([z.int().nonnegative(), z.enum(['a', 'b'])]),
  })
  expect(configurationRows(schema)).toEqual([
    ['`name`', 'string', '`"x"`'],
    ['`inner.n`', 'whole number > 0, ≤ 9', '`3`'],
    ['`inner.list`', 'list of string', 'none'],
    ['`either`', 'whole number ≥ 0 or `"a"`, `"b"`', 'none'],
  ])
})
