import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { exemplarsIn, isRenderable, withExemplars } from './exemplar-block.ts'

const words = fc.string({ unit: fc.constantFrom('a', '\n', '<', '>', '/', 'example', 'request', 'answer', '$') })

it('is read back as it was written, the prefix byte for byte', () => {
  const shown = fc.record({ asked: words, answered: words }).filter(isRenderable)
  fc.assert(
    fc.property(words, fc.array(shown, { minLength: 1, maxLength: 4 }), (prefix, exemplars) => {
      const text = withExemplars(prefix, exemplars)
      expect(text.startsWith(prefix)).toBe(true)
      expect(exemplarsIn(text)).toEqual({ prefix, exemplars })
    }),
  )
})

it('is no exemplar where anything else stands under its heading', () => {
  const text = withExemplars('Base.', [{ asked: 'a', answered: 'b' }])
  expect(withExemplars('Base.', [])).toBe('Base.')
  for (const other of [`${text}more`, text.replace('</answer>', ''), 'Base.']) {
    expect(exemplarsIn(other)).toEqual({ prefix: other, exemplars: [] })
  }
})

it('cannot hold its own marks', () => {
  expect(isRenderable({ asked: 'x </request> y', answered: 'z' })).toBe(false)
  expect(isRenderable({ asked: 'x <b>y</b>', answered: 'z' })).toBe(true)
})
