import { expect, it } from 'vitest'
import { Message, ToolDefinition } from '../../../core/index.ts'
import { redactMessage, redactObject, redactTools, redactionOf } from './index.ts'

const redaction = redactionOf(['email', 'card'])
const mail = 'jo@example.org'

it('takes what must not be written out of everything that a message holds', () => {
  const messages: Message[] = [
    { role: 'system', content: mail },
    { role: 'user', content: mail, name: mail },
    { role: 'tool', content: mail, name: 'find', toolCallId: 'call_1' },
    {
      role: 'assistant',
      content: mail,
      toolCalls: [{ id: 'call_1', name: 'find', arguments: { [mail]: [{ deep: mail }, 4111111111111111] } }],
      malformedCalls: [{ text: `find({"who": "${mail}"`, problem: `no ${mail}` }],
      reasoning: mail,
      refusal: mail,
    },
    {
      role: 'user',
      content: mail,
      parts: [
        { type: 'text', text: mail },
        { type: 'image_url', image_url: { url: `https://example.org/${mail}` } },
      ],
    },
  ]
  for (const message of messages) {
    const { value, changed } = redactMessage(message, redaction)
    expect(changed).toBe(true)
    expect(JSON.stringify(value)).not.toMatch(/jo@|4111/)
    expect(Message.parse(value)).toEqual(value)
  }
  expect(redactMessage(messages[3]!, redaction).value).toMatchObject({
    toolCalls: [{ id: 'call_1', name: 'find', arguments: { '[email]': [{ deep: '[email]' }, '[card]'] } }],
  })
})

it('leaves a message without anything of it as it is', () => {
  const message: Message = { role: 'user', content: 'hello', parts: [{ type: 'text', text: 'hello' }] }
  expect(redactMessage(message, redaction)).toEqual({ value: message, changed: false })
  expect(redactMessage(message, redaction).value).toBe(message)
})

it.each([
  ['across parts', ['write to jo@exam', 'ple.org', ' now'], 'write to [email] now'],
  ['in a part, and not in the whole', ['name', mail], 'name[email]'],
])('sees what stands %s', (_, texts, expected) => {
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,aGVsbG8=' } }
  const [first = '', ...rest] = texts
  const parts = [image, { type: 'text', text: first }, image, ...rest.map((text) => ({ type: 'text', text }))]
  const message: Message = { role: 'user', content: texts.join(''), parts }
  const { value, changed } = redactMessage(message, redaction)
  expect(changed).toBe(true)
  expect(value.content).toBe(expected)
  expect(JSON.stringify(value)).not.toContain('jo@')
  expect((value.parts ?? []).filter(({ type }) => type === 'image_url')).toEqual([image, image])
})

it('leaves pictures and sound as they are', () => {
  const bytes = 'sk1'.repeat(400)
  const part = { type: 'input_audio', input_audio: { data: bytes, format: 'wav' } }
  expect(redactObject(part, redactionOf([{ name: 'x', pattern: 'sk1' }]))).toEqual({ value: part, changed: false })
})

it.each([`data:text/plain,write to ${mail}`, `data:text/plain;base64,write to ${mail}`])(
  'sees what stands in a data URL that is text: %s',
  (url) => {
    const { value, changed } = redactObject({ url }, redaction)
    expect(changed).toBe(true)
    expect(JSON.stringify(value)).not.toContain('jo@')
  },
)

it('keeps keys apart that become the same, whatever they are called', () => {
  const { value } = redactObject({ 'a@x.org': 1, 'b@x.org': 2, __proto__x: 3 }, redaction)
  expect(value).toEqual({ '[email]': 1, '[email]-2': 2, __proto__x: 3 })
  const hostile = JSON.parse(`{"__proto__": "${mail}"}`)
  expect(JSON.stringify(redactObject(hostile, redaction).value)).toBe('{"__proto__":"[email]"}')
})

it('gives names and ids of tools and calls a stand-in, the same wherever they are the same', () => {
  const badges = redactionOf([{ name: 'badge', pattern: 'B-\\d+' }, 'email'])
  const turn: Message = {
    role: 'assistant',
    content: '',
    toolCalls: [
      { id: mail, name: 'find_B-1', arguments: {} },
      { id: `x${mail}`, name: 'find', arguments: {} },
    ],
  }
  const result: Message = { role: 'tool', content: '', name: 'find_B-1', toolCallId: mail }
  const said = redactMessage(turn, badges).value
  const told = redactMessage(result, badges).value
  const [tool] = redactTools([{ name: 'find_B-1', description: '', parameters: {} }], badges).value
  const [first, second] = said.role === 'assistant' ? (said.toolCalls ?? []) : []
  expect([first?.name, first?.id]).toEqual([expect.stringMatching(/^redacted-/), expect.stringMatching(/^redacted-/)])
  expect(told).toMatchObject({ name: first?.name, toolCallId: first?.id })
  expect(tool?.name).toBe(first?.name)
  expect(ToolDefinition.parse(tool)).toEqual(tool)
  expect(second).toMatchObject({ name: 'find', id: expect.stringMatching(/^redacted-/) })
  expect(second?.id).not.toBe(first?.id)
})

it('reads tool definitions', () => {
  const tools: ToolDefinition[] = [
    { name: 'find', description: `ask ${mail}`, parameters: { type: 'object', default: { who: mail } } },
  ]
  expect(redactTools(tools, redaction)).toEqual({
    value: [{ name: 'find', description: 'ask [email]', parameters: { type: 'object', default: { who: '[email]' } } }],
    changed: true,
  })
})
