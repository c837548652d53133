import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Bullet, bulletsIn, likeness, withBullets } from './bullets.ts'
import { Delta, merged } from './delta.ts'

const bullet = (id: string, text: string, helpful = 0, harmful = 0): Bullet => ({ id, text, helpful, harmful })
const cap = (bullets: number, bytes = 10_000) => ({
  bullets,
  bulletBytes: 60,
  fits: (some: readonly Bullet[]) => Buffer.byteLength(withBullets('Base.', some)) <= bytes,
})
const delta = (changes: Partial<Delta>): Delta => Delta.parse(changes)
const two = [bullet('p1', 'check the invoice number'), bullet('p2', 'never promise a date', 2, 1)]

describe('a delta', () => {
  it('adds, edits and counts, and leaves the rest as it was', () => {
    const change = { add: ['ask for  the\nparcel id'], edit: [{ id: 'p1', text: 'check both invoice numbers' }] }
    expect(merged(two, delta({ ...change, helpful: ['p2'], harmful: ['p1'] }), cap(9))).toEqual([
      bullet('p1', 'check both invoice numbers', 0, 1),
      bullet('p2', 'never promise a date', 3, 1),
      bullet('p3', 'ask for the parcel id'),
    ])
  })

  it('removes only what harmed more often than it helped', () => {
    const all = delta({ remove: ['p1', 'p2', 'p9'] })
    expect(merged(two, all, cap(9))).toEqual(two)
    expect(merged(two, delta({ remove: ['p1', 'p2'], harmful: ['p1'] }), cap(9)).map(({ id }) => id)).toEqual(['p2'])
  })

  it('counts what is said already as helpful', () => {
    const [first, ...others] = merged(two, delta({ add: ['Check the invoice number!'] }), cap(9))
    expect(first).toEqual(bullet('p1', 'check the invoice number', 1))
    expect(others).toHaveLength(1)
    expect(likeness('a b c d e', 'a b c d f')).toBeCloseTo(4 / 6)
  })

  it('lets the worst go beyond the cap, of equals the oldest, and none that is too long in', () => {
    const words = ['one thing', 'another matter', 'x'.repeat(61)]
    expect(merged(two, delta({ add: words }), cap(3)).map(({ id }) => id)).toEqual(['p2', 'p3', 'p4'])
  })

  const words = fc.string({ minLength: 1, maxLength: 80, unit: fc.constantFrom('a', 'b', 'é', ' ', '\n', '-', '[') })
  const id = fc.integer({ min: 1, max: 12 }).map((n) => `p${n}`)
  const some = fc.record({
    add: fc.array(words, { maxLength: 4 }),
    edit: fc.array(fc.record({ id, text: words }), { maxLength: 3 }),
    remove: fc.array(id, { maxLength: 4 }),
    helpful: fc.array(id, { maxLength: 4 }),
    harmful: fc.array(id, { maxLength: 4 }),
  })

  it('never passes the cap, keeps ids apart, and is read back as it was written, whatever is asked for', () => {
    fc.assert(
      fc.property(fc.array(some, { maxLength: 12 }), fc.integer({ min: 90, max: 400 }), (deltas, bytes) => {
        const limits = cap(5, bytes)
        let bullets: readonly Bullet[] = []
        for (const one of deltas) {
          const before = bullets
          bullets = merged(bullets, one, limits)
          expect(merged(before, one, limits)).toEqual(bullets)
          expect(bullets.length).toBeLessThanOrEqual(5)
          expect(new Set(bullets.map((each) => each.id)).size).toBe(bullets.length)
          const text = withBullets('Base.', bullets)
          expect(Buffer.byteLength(text)).toBeLessThanOrEqual(bullets.length === 0 ? 5 : bytes)
          expect(bulletsIn(text)).toEqual({ prefix: 'Base.', bullets })
        }
      }),
    )
  })
})

it('is no playbook where anything else stands under its heading', () => {
  const text = withBullets('Base.', two)
  for (const other of [`${text}more`, text.replace('[p1', '[q1'), text.slice(0, -1), 'Base.']) {
    expect(bulletsIn(other)).toEqual({ prefix: other, bullets: [] })
  }
})
