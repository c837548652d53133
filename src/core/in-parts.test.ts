import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson, sha256 } from './hash.ts'
import { canonicalHashInParts, jsonHashInParts, jsonInParts, partSize, textInParts } from './in-parts.ts'
import type { Json } from './json.ts'

/** Texts around the size of a part, of characters of one, two, three and four bytes, and of halves of one. */
const long = fc
  .tuple(fc.constantFrom('x', 'ж', '語', '🙂', 'x🙂', '\ud83d', '"', '\n', '\u2028'), fc.integer({ min: -2, max: 3 }))
  .map(([piece, more]) => `${piece.repeat(Math.ceil(partSize / piece.length))}${piece.repeat(Math.max(0, more))}`)

const value = fc.letrec<{ any: Json }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<Json>,
    { arbitrary: long, weight: 2 },
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('b', 'a', '__proto__', 'ж"'), tie('any'), { maxKeys: 3 }),
  ),
})).any

describe('in parts', () => {
  it('the text of a value is the one that JSON has', async () => {
    await fc.assert(
      fc.asyncProperty(value, async (one) => {
        expect((await jsonInParts(one)) === JSON.stringify(one)).toBe(true)
      }),
      { numRuns: 25 },
    )
  })

  it('what is undefined is left out, as by JSON', async () => {
    const one = { a: undefined, b: 'x'.repeat(2 * partSize), c: [undefined, 1] }
    expect((await jsonInParts(one)) === JSON.stringify(one)).toBe(true)
  })

  it('the hash of a value is that of its canonical text', async () => {
    await fc.assert(
      fc.asyncProperty(value, async (one) => {
        expect(await canonicalHashInParts('before\n', one)).toBe(sha256(`before\n${canonicalJson(one)}`))
        expect(await jsonHashInParts(one)).toBe(sha256(JSON.stringify(one)))
      }),
      { numRuns: 25 },
    )
  })

  it('bytes become the text that they are, broken ones too', async () => {
    await fc.assert(
      fc.asyncProperty(long, fc.uint8Array({ maxLength: 4 }), async (text, more) => {
        const bytes = Buffer.concat([Buffer.from(text), more, Buffer.from(text)])
        expect((await textInParts(bytes)) === bytes.toString('utf8')).toBe(true)
      }),
      { numRuns: 25 },
    )
  })

  it('others are served between two of them', async () => {
    const text = 'x'.repeat(8 * partSize)
    let turns = 0
    let over = false
    const count = () => {
      turns += 1
      if (!over) setImmediate(count)
    }
    setImmediate(count)
    await jsonInParts({ a: [text] })
    await canonicalHashInParts('', [text])
    await textInParts(Buffer.from(text))
    over = true
    expect(turns).toBeGreaterThanOrEqual(3 * 8)
  })
})
