import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Message, ToolDefinition } from '../../core/index.ts'
import { demonstrationFindings } from './demonstration-findings.ts'
import { Finding } from './finding.ts'
import type { WrittenDemonstration } from './written-demonstration.ts'

const oneString = (name: string) => ({
  type: 'object',
  properties: { [name]: { type: 'string' } },
  required: [name],
  additionalProperties: false,
})
const tools: readonly ToolDefinition[] = [
  { name: 'search', description: '', parameters: oneString('query') },
  { name: 'answer', description: '', parameters: oneString('text') },
]

const asks = (content: string): Message => ({ role: 'user', content })
const says = (content: string): Message => ({ role: 'assistant', content })
const calls = (name: string, given: Record<string, string>): Message => ({
  role: 'assistant',
  content: '',
  toolCalls: [{ name, arguments: given }],
})
const shows = (name: string, content: string): Message => ({ role: 'tool', name, content })

/** Searches, then answers. */
const whole = (i: number): WrittenDemonstration => ({
  messages: [
    asks(`question ${i}`),
    calls('search', { query: `${i}` }),
    shows('search', `found ${i}`),
    calls('answer', { text: `${i}` }),
  ],
})
const wholes = (n: number) => Array.from({ length: n }, (_, i) => whole(i))
const found = (demonstrations: readonly WrittenDemonstration[]) => demonstrationFindings({ demonstrations, tools })
const only = (demonstrations: readonly WrittenDemonstration[], code: string) => {
  const findings = found(demonstrations)
  expect(findings.map((one) => one.code)).toEqual([code])
  return findings[0]!
}
const replaced = (n: number, messages: (i: number) => readonly Message[], of = 16) =>
  wholes(of).map((one, i) => (i < n ? { messages: messages(i) } : one))

it('finds nothing where nothing is wrong, nor where there is nothing', () => {
  expect(found([])).toEqual([])
  expect(found(wholes(16))).toEqual([])
  expect(found([whole(0)])).toEqual([])
})

describe('calls', () => {
  it('are known by the tools that were at hand in each demonstration, and so are ends and what was read', () => {
    const own = [{ name: 'say', description: '', parameters: oneString('text') }]
    const said = (given: Record<string, string>, more: Partial<WrittenDemonstration> = {}): WrittenDemonstration => ({
      messages: [asks('question 0'), calls('say', given)],
      ...more,
    })
    expect(found([...wholes(8), said({ text: 'x' }, { tools: own })])).toEqual([])
    only([...wholes(8), said({ word: 'x' }, { tools: own })], 'learn/refused-arguments')
    const codes = found([...wholes(8), said({ text: 'x' })]).map(({ code }) => code)
    expect(codes).toEqual(['learn/unknown-tool', 'learn/unusual-end', 'learn/contradiction'])
  })

  const finds = (i: number) => [
    asks(`q ${i}`),
    calls('serch', { query: 'x' }),
    shows('serch', ''),
    whole(i).messages[3]!,
  ]

  it('of tools that the environment does not have', () => {
    expect(only(replaced(3, finds), 'learn/unknown-tool')).toEqual({
      severity: 'warn',
      code: 'learn/unknown-tool',
      message:
        '3 of 16 demonstrations call the tool "serch", which the environment does not have. Did you mean "search"?',
      hint: 'Call only what the environment has: "search", "answer".',
      n: 3,
      of: 16,
      example: 'demonstration 1: "serch {"query":"x"}"',
    })
    expect(only(replaced(9, finds), 'learn/unknown-tool').severity).toBe('stop')
  })

  it('of several such tools: the most frequent one is named', () => {
    const mixed = replaced(3, (i) => [asks(`q ${i}`), calls(i < 2 ? 'lookup' : 'fetch', {}), whole(i).messages[3]!])
    expect(only(mixed, 'learn/unknown-tool').message).toBe(
      '3 of 16 demonstrations call 2 tools that the environment does not have, most often "lookup".',
    )
  })

  it('with arguments that a tool refuses', () => {
    const wrong = replaced(2, (i) => [asks(`q ${i}`), calls('search', { q: 'x' }), whole(i).messages[3]!])
    const { message, severity } = only(wrong, 'learn/refused-arguments')
    expect(message).toContain('2 of 16 demonstrations call a tool with arguments that its schema refuses')
    expect(message).toContain('demonstration 1: "search {"q":"x"}": "query" is missing')
    expect(severity).toBe('warn')
  })

  it('that cannot be read', () => {
    const broken: Message = { role: 'assistant', content: '', malformedCalls: [{ text: '!x\n{', problem: 'no JSON' }] }
    const { message } = only(
      replaced(1, () => [asks('q'), broken, whole(0).messages[3]!]),
      'learn/unreadable-call',
    )
    expect(message).toContain('"!x?{"')
  })
})

it('finds demonstrations in which the assistant does nothing', () => {
  const idle = only(
    replaced(1, () => [asks('well?'), says(' ')]),
    'learn/no-act',
  )
  expect(idle).toMatchObject({ n: 1, of: 16, severity: 'warn' })
  expect(
    only(
      replaced(9, (i) => [asks(`q ${i}`)]),
      'learn/no-act',
    ).severity,
  ).toBe('stop')
})

describe('ends', () => {
  it('that are another act than nearly all have', () => {
    const cut = replaced(1, () => whole(0).messages.slice(0, 3))
    expect(only(cut, 'learn/unusual-end').message).toBe(
      '1 of 16 demonstrations does not end in the act "answer", in which the other 15 end. For example, demonstration 1 ends in the act "search".',
    )
  })

  it('that are a message which nobody answers', () => {
    const talk = (i: number) => [asks(`hello ${i}`), says(`yes ${i}`)]
    const demonstrations = Array.from({ length: 6 }, (_, i) => ({
      messages: i === 2 ? [...talk(i), asks('and then?')] : talk(i),
    }))
    expect(only(demonstrations, 'learn/unanswered-end').message).toContain(
      'demonstration 3 ends with "and then?" of the user',
    )
  })

  it('may be the result of the last call, in all demonstrations or some', () => {
    const told = (n: number) => replaced(n, (i) => [...whole(i).messages, shows('answer', 'answered')])
    for (const n of [1, 8, 16]) expect(found(told(n))).toEqual([])
  })

  it('may differ where no custom is to be seen', () => {
    expect(found([whole(0), whole(1), { messages: [asks('bye'), says('bye')] }])).toEqual([])
  })
})

describe('agreement', () => {
  it('finds different acts in exactly the same conversation, whatever the ids of the calls', () => {
    const first: Message = {
      role: 'assistant',
      content: '',
      toolCalls: [{ id: 'a', name: 'search', arguments: { query: 'x' } }],
    }
    const again: Message = {
      role: 'assistant',
      content: '',
      toolCalls: [{ id: 'b', name: 'search', arguments: { query: 'x' } }],
    }
    const ends = [calls('answer', { text: 'yes' }), calls('answer', { text: 'no' })]
    const same = { messages: [asks('q'), first, shows('search', 'r'), ends[0]!] }
    const other = { messages: [asks('q'), again, shows('search', 'r'), ends[1]!] }
    expect(only([same, other, ...wholes(3)], 'learn/contradiction')).toMatchObject({ severity: 'warn', n: 2, of: 10 })
  })

  it('finds copies', () => {
    const { message } = only([...wholes(3), whole(1)], 'learn/duplicate-demonstration')
    expect(message).toBe(
      '1 of 4 demonstrations is an exact copy of an earlier one. For example, demonstration 4 repeats demonstration 2.',
    )
  })
})

it('reads any messages without throwing, in findings of one line each', () => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', '\n', '\u001b[2J', '__proto__', 'search'))
  const given = fc.dictionary(text, fc.jsonValue() as fc.Arbitrary<string>)
  const call = fc.record({ name: text.map((name) => name || 'x'), arguments: given })
  const message: fc.Arbitrary<Message> = fc.oneof(
    fc.record({ role: fc.constantFrom('user' as const, 'system' as const), content: text }),
    fc.record({ role: fc.constant('tool' as const), name: text, content: text }),
    fc.record({
      role: fc.constant('assistant' as const),
      content: text,
      toolCalls: fc.array(call, { maxLength: 3 }),
      malformedCalls: fc.array(fc.record({ text, problem: text }), { maxLength: 1 }),
    }),
  )
  const demonstrations = fc.array(fc.record({ messages: fc.array(message, { maxLength: 6 }) }), { maxLength: 6 })
  fc.assert(
    fc.property(demonstrations, (shown) => {
      for (const finding of demonstrationFindings({ demonstrations: shown, tools })) {
        expect(Finding.parse(finding)).toEqual(finding)
        expect(finding.n).toBeLessThanOrEqual(finding.of)
        expect(`${finding.message}${finding.hint}${finding.example}`).toMatch(/^[^\p{Cc}\p{Zl}\p{Zp}]{10,2000}$/u)
      }
    }),
    { numRuns: 50 },
  )
})
