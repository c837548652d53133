import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Components } from './component.ts'
import { joined, piecesOf } from './locked.ts'

const text = 'Be kind.\n\nNEVER give refunds above {limit}.\n\nAnswer in one line.'
const locked = ['NEVER give refunds above {limit}.']

describe('locked parts', () => {
  it('split a text, which the pieces make again', () => {
    const pieces = piecesOf(text, locked)
    expect(pieces.map((piece) => [piece.locked, piece.text])).toEqual([
      [false, 'Be kind.\n\n'],
      [true, locked[0]],
      [false, '\n\nAnswer in one line.'],
    ])
    expect(joined(pieces)).toBe(text)
  })

  it.each([
    ['missing', ['nowhere']],
    ['there twice', ['e']],
    ['empty', ['']],
    ['overlapping', ['NEVER give', 'give refunds']],
  ])('are refused where they are %s', (_, spans) => {
    expect(() => piecesOf(text, spans)).toThrow(expect.objectContaining({ code: 'text/locked-span' }))
  })

  it('stay byte for byte, and so does every other part, whatever is written', () => {
    const components = new Components(text, locked)
    const written = fc.oneof(
      fc.string(),
      fc.constantFrom(...locked, 'x NEVER give refunds above {limit}. y', '\n', '$&'),
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat({ max: 1 }), written), { maxLength: 8 }), (changes) => {
        let now = text
        for (const [index, part] of changes) {
          const other = components.part(now, 1 - index)
          const next = components.replaced(now, index, part)
          if (next === null) continue
          expect(next.split(locked[0] ?? '')).toHaveLength(2)
          expect(components.part(next, index)).toBe(part.trim())
          expect(components.part(next, 1 - index)).toBe(other)
          now = next
        }
      }),
    )
  })

  it('keep placeholders', () => {
    const components = new Components('Greet {{name}} of {city}.', [])
    expect(components.replaced('Greet {{name}} of {city}.', 0, 'Greet {{name}}.')).toBeNull()
    expect(components.replaced('Greet {{name}} of {city}.', 0, 'In {city}: hello {{name}}.')).toBe(
      'In {city}: hello {{name}}.',
    )
  })
})
