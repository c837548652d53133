import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { type ChatRequest, VersionId, type WireMessage } from '../../core/index.ts'
import { type LearnedTexts, shownRequest } from './shown.ts'

const learned = (texts: Readonly<Record<string, string>>): LearnedTexts =>
  new Map(Object.entries(texts).map(([name, text]) => [name, { version: VersionId.parse(`v-${name}`), text }]))

const message: fc.Arbitrary<WireMessage> = fc.oneof(
  fc.record({ role: fc.constantFrom('system' as const, 'developer' as const), content: fc.string() }),
  fc.record({ role: fc.constant('user' as const), content: fc.string() }),
  fc.record({ role: fc.constant('assistant' as const), content: fc.string() }),
)
const request: fc.Arbitrary<ChatRequest> = fc.record({
  model: fc.constant('m'),
  messages: fc.array(message, { minLength: 1, maxLength: 5 }),
  tools: fc.option(
    fc.array(
      fc.record({
        type: fc.constant('function' as const),
        function: fc.record({ name: fc.constantFrom('f', 'g', 'constructor'), description: fc.option(fc.string()) }),
      }),
      { maxLength: 3 },
    ),
  ),
  temperature: fc.constant(0.5),
})

it('without a text to show, it is the client’s own request', () => {
  fc.assert(
    fc.property(request, (sent) => {
      expect(shownRequest(sent, learned({})).request).toBe(sent)
      expect(shownRequest(sent, learned({ 'tool-nowhere': 'x', other: 'y' })).request).toBe(sent)
    }),
  )
})

it('changes the texts and nothing else, and leaves what was sent as it was', () => {
  fc.assert(
    fc.property(request, (sent) => {
      const before = structuredClone(sent)
      const { request: shown, inserted, texts } = shownRequest(sent, learned({ system: 'two', 'tool-f': 'F' }))
      expect(sent).toEqual(before)
      const [first, ...rest] = shown.messages
      const leads = sent.messages[0]?.role === 'system' || sent.messages[0]?.role === 'developer'
      expect(inserted).toBe(!leads)
      expect(first).toEqual({ role: leads ? sent.messages[0]?.role : 'system', content: 'two' })
      expect(rest).toEqual(sent.messages.slice(leads ? 1 : 0))
      const tools = sent.tools?.map((tool) =>
        tool.function.name === 'f' ? { ...tool, function: { ...tool.function, description: 'F' } } : tool,
      )
      expect(shown).toEqual({ ...sent, messages: shown.messages, ...(tools ? { tools } : {}) })
      const hasTool = sent.tools?.some((tool) => tool.function.name === 'f') === true
      expect(texts.map(({ parameter }) => parameter)).toEqual(hasTool ? ['system', 'tool-f'] : ['system'])
    }),
  )
})
