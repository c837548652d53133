import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { GatheredBytes } from './gathered-bytes.ts'

it('gives back what came, whatever the pieces', () => {
  const piece = fc.oneof(fc.uint8Array({ maxLength: 40 }), fc.uint8Array({ minLength: 3_000, maxLength: 70_000 }))
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const gathered = new GatheredBytes()
      for (const one of pieces) gathered.add(one)
      expect(gathered.length).toBe(pieces.reduce((sum, { length }) => sum + length, 0))
      expect(gathered.whole().equals(Buffer.concat(pieces))).toBe(true)
    }),
    { numRuns: 50 },
  )
})
