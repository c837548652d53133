import { describe, expect, it } from 'vitest'
import { scriptedModel } from '../../test/support/scripted-model.ts'
import type { Message } from '../core/index.ts'
import { InputError } from '../errors/index.ts'
import { demonstration } from './demonstration.ts'

const { renderer } = scriptedModel(() => [''])
const call = (word: string): Message => ({
  role: 'assistant',
  content: '',
  toolCalls: [{ name: 'answer', arguments: { word } }],
})
const messages: readonly Message[] = [
  { role: 'user', content: 'Which word?' },
  call('wrong'),
  { role: 'tool', name: 'answer', content: 'No.', isError: true },
  call('right'),
]
const learned = (mistakes?: readonly number[]) => {
  const { tokens, learn } = demonstration(messages, [], renderer, mistakes)
  return { tokens, text: renderer.decode(tokens.filter((_, t) => learn[t])) }
}

describe('a mistake in a demonstration', () => {
  it('is read and not learned, and what puts it right is learned where it stands', () => {
    const [whole, refined] = [learned(), learned([1])]
    expect(whole.text).toContain('wrong')
    expect(refined.tokens).toEqual(whole.tokens)
    expect(refined.text).not.toContain('wrong')
    expect(refined.text).toContain('right')
  })

  it.each([0, 2, 4, -1])('is a turn of the assistant: message %d is none', (index) => {
    expect(() => learned([index])).toThrow(expect.objectContaining({ code: 'agent/stray-mistake' }))
  })
})

describe('what the form of the renderer cannot express', () => {
  const two: Message = { ...call('right'), content: 'Let me see.' }
  const narrow: typeof renderer = {
    ...renderer,
    start: (...given) => renderer.start(...given),
    extend: (...given) => renderer.extend(...given),
    renderAssistant(message, tools) {
      if (message.content !== '')
        throw new InputError({ code: 'model/x', message: 'It has words.', hint: 'Take them out.' })
      return renderer.renderAssistant(message, tools)
    },
  }

  it('is told with the number of the message', () => {
    expect(() => demonstration([...messages.slice(0, 3), two], [], narrow)).toThrow(
      expect.objectContaining({ code: 'model/x', message: 'Message 4: It has words.', hint: 'Take them out.' }),
    )
  })

  it('hides nothing else that the renderer throws', () => {
    const broken = { ...narrow, start: () => expect.fail('the renderer broke') }
    expect(() => demonstration(messages, [], broken)).toThrow('the renderer broke')
  })
})
