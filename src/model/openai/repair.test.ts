import { describe, expect, it } from 'vitest'
import { ChatChunk, ChatCompletion } from '../../core/index.ts'
import { Repair } from './repair.ts'

const mendAll = (chunks: readonly unknown[]): ChatChunk[] => {
  const repair = new Repair('asked')
  return chunks.map((chunk) => ChatChunk.parse(repair.mend(chunk)))
}
const callsOf = (chunks: readonly unknown[]): unknown[] =>
  mendAll(chunks).flatMap(({ choices }) =>
    choices.flatMap(({ index, delta }) => (delta.tool_calls ?? []).map((call) => [index, call.index, call.id])),
  )
const calls = (...tool_calls: unknown[]) => ({ choices: [{ index: 0, delta: { tool_calls } }] })

describe('what is missing', () => {
  it('is filled with what is known, and nothing is made up', () => {
    const before = Math.floor(Date.now() / 1_000)
    const [chunk] = mendAll([{ object: 'chat.completion.chunk', created: null, choices: [{ delta: null }], usage: {} }])
    expect(chunk).toMatchObject({ id: '', model: 'asked', usage: null, choices: [{ index: 0, delta: {} }] })
    expect(chunk?.created).toBeGreaterThanOrEqual(before)
    const whole = { choices: [{ message: { content: 'hi' }, finish_reason: 'stop' }], usage: { total_tokens: 'many' } }
    expect(ChatCompletion.parse(new Repair('asked').mend(whole))).toMatchObject({
      id: '',
      model: 'asked',
      usage: null,
      choices: [{ index: 0, message: { content: 'hi' } }],
    })
  })

  it('leaves what is there', () => {
    const usage = { prompt_tokens: 1, completion_tokens: 2 }
    const [chunk] = mendAll([
      { id: 'x', created: 7, model: 'm', usage, choices: [{ index: 3, delta: { content: 'a' } }], more: 1 },
    ])
    expect(chunk).toEqual({
      id: 'x',
      object: 'chat.completion.chunk',
      created: 7,
      model: 'm',
      usage,
      choices: [{ index: 3, delta: { content: 'a' } }],
      more: 1,
    })
  })
})

describe('tool calls without an index', () => {
  it('each begin where they have an id or a name, and go on where they have neither', () => {
    const begun = (id: string) => ({ id, function: { name: 'look', arguments: '' } })
    const more = { function: { arguments: '{}' } }
    expect(
      callsOf([
        calls(begun('a')),
        calls(more),
        calls(begun('b'), begun('c')),
        calls(more),
        calls({ ...more, id: 'a' }),
      ]),
    ).toEqual([
      [0, 0, 'a'],
      [0, 0, undefined],
      [0, 1, 'b'],
      [0, 2, 'c'],
      [0, 2, undefined],
      [0, 0, 'a'],
    ])
    const nameless = calls({ function: { name: 'look', arguments: '{}' } })
    expect(callsOf([nameless, nameless])).toEqual([
      [0, 0, undefined],
      [0, 1, undefined],
    ])
  })

  it('are counted for each choice alone, and from where others have an index', () => {
    const chunk = (index: number, call: object) => ({ choices: [{ index, delta: { tool_calls: [call] } }] })
    expect(
      callsOf([chunk(0, { id: 'a' }), chunk(1, { id: 'a' }), chunk(0, { index: 4, id: 'd' }), chunk(0, { id: 'e' })]),
    ).toEqual([
      [0, 0, 'a'],
      [1, 0, 'a'],
      [0, 4, 'd'],
      [0, 5, 'e'],
    ])
  })
})

describe('what cannot be mended', () => {
  it.each([
    null,
    'text',
    [],
    {},
    { choices: 'none' },
    { choices: ['a'] },
    { choices: [{ index: 'zero', delta: {} }] },
    { choices: [{ delta: 'ha' }] },
    { id: 7, choices: [{ delta: {} }] },
    calls('a'),
    calls({ index: 'zero' }),
  ])('stays broken: %j', (value) => {
    expect(ChatChunk.safeParse(new Repair('asked').mend(value)).success).toBe(false)
  })
})
