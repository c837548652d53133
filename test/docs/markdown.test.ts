import { describe, expect, it } from 'vitest'
import { readMarkdown } from './markdown.ts'

describe('blocks', () => {
  it('have a language, flags, content, and the text beside them', () => {
    const { blocks } = readMarkdown('# T\n\nwhy\nso\n\n```ts check-only\na\n\nb\n```\n\nafter\n\nelse\n')
    expect(blocks).toEqual([
      { language: 'ts', flags: ['check-only'], content: 'a\n\nb', line: 6, beside: 'why\nso\nafter' },
    ])
  })

  it('may hold shorter fences, and be fenced by tildes', () => {
    const { blocks } = readMarkdown('````text\n```sh\nls\n```\n````\n~~~\nx\n~~~')
    expect(blocks.map(({ language, content }) => [language, content])).toEqual([
      ['text', '```sh\nls\n```'],
      ['', 'x'],
    ])
  })

  it('must end', () => {
    expect(() => readMarkdown('a\n```sh\nls\n')).toThrow('the code block of line 2 is never closed')
  })
})

it('links are found outside code', () => {
  const text = '[a](x.md) ![i](y.png "t") `[b](no.md)` [c](z.md#part)\n```text\n[d](no.md)\n```\n[e](https://e.org)'
  expect(readMarkdown(text).links).toEqual(['x.md', 'y.png', 'z.md#part', 'https://e.org'])
})

it('anchors are made of headings as GitHub makes them', () => {
  expect(readMarkdown('# Every key, of it!\n## `code` & more\n```\n# no\n```').anchors).toEqual([
    'every-key-of-it',
    'code--more',
  ])
})
