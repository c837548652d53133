import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { escape, html } from './html.ts'

const decode = (text: string) =>
  text.replaceAll(
    /&(amp|lt|gt|quot|#39);/g,
    (_, name: string) => ({ amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" })[name] ?? '',
  )

describe('html', () => {
  it('leaves no character of a value that could end a text or an attribute', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(html`${text}`.toString()).not.toMatch(/[<>"'\0]|&(?!(amp|lt|gt|quot|#39);)/)
      }),
    )
  })

  it('shows printable text as it is', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(decode(escape(text))).toBe(text)
      }),
    )
  })

  it('shows control characters and halves of characters as pictures', () => {
    expect(escape('a\0b\u001b[31m\u0085\ud800\r\nc\td')).toBe('a␀b␛[31m\ufffd\ufffd\nc\td')
  })

  it('inserts only markup that it made itself', () => {
    const forged = { toString: () => '<script>' } as unknown as string
    expect(html`<p>${html`<b>${'<i>'}</b>`}${[1, ' ', null, false, undefined]}</p>`.toString()).toBe(
      '<p><b>&lt;i&gt;</b>1 </p>',
    )
    expect(() => html`${forged}`.toString()).toThrow()
  })
})
