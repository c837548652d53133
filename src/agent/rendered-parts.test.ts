import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { scriptedModel } from '../../test/support/scripted-model.ts'
import { type Message, rememberedBy } from '../core/index.ts'
import { renderedParts, spansOf } from './rendered-parts.ts'

const { renderer } = scriptedModel(() => [''])
const render = (messages: readonly Message[]) => renderer.start(messages, [])
const said = (content: string): Message => ({ role: 'user', content })
const recalled = (content: string): Message => ({ role: 'user', name: rememberedBy, content })
const textsOf = (messages: readonly Message[]) =>
  renderedParts(messages, render).map(({ tokens, recalled: is }) => [renderer.decode(tokens), is])

describe('rendered messages', () => {
  it('tell what stands there only because it was recalled', () => {
    expect(textsOf([said('Be brief.'), recalled('It was red.'), said('Which one?')])).toEqual([
      ['\nuser: Be brief.\nuser: ', false],
      ['It was red.\nuser: ', true],
      ['Which one?\nassistant: ', false],
    ])
  })

  it('are of one origin where nothing was recalled, nothing else was said, or the template says something else beside it', () => {
    const one = (messages: readonly Message[], by = render) => renderedParts(messages, by).map((part) => part.recalled)
    expect(one([said('a'), said('b')])).toEqual([false])
    expect(one([recalled('a')])).toEqual([false])
    const counting = (messages: readonly Message[]) => [messages.length, ...render(messages)]
    expect(one([said('a'), recalled('b')], counting)).toEqual([false])
  })

  it('without what was recalled they are what they would have been, and with it what they are', () => {
    const message = fc.record({ content: fc.constantFrom('a', 'b', 'a b', ''), isRecalled: fc.boolean() })
    fc.assert(
      fc.property(fc.array(message, { maxLength: 8 }), (some) => {
        const messages = some.map(({ content, isRecalled }) => (isRecalled ? recalled(content) : said(content)))
        const parts = renderedParts(messages, render)
        expect(parts.flatMap(({ tokens }) => tokens)).toEqual(render(messages))
        const plain = messages.filter((one) => one.role === 'user' && one.name === undefined)
        const kept = parts.flatMap((part) => (part.recalled ? [] : part.tokens))
        if (plain.length === 0) expect(kept).toEqual(render(messages))
        else expect(kept).toEqual(render(plain))
      }),
    )
  })
})

it('neighbours of one origin are one span, and there is none of nothing', () => {
  const part = (tokens: readonly number[], is = false) => ({ tokens, recalled: is })
  expect(spansOf([part([1]), part([]), part([2]), part([3], true), part([4])])).toEqual([
    { kind: 'encoded', tokens: [1, 2] },
    { kind: 'encoded', tokens: [3], recalled: true },
    { kind: 'encoded', tokens: [4] },
  ])
})
