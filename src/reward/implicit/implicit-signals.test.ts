import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Message, rememberedBy, Trajectory, type TrajectoryNode } from '../../core/index.ts'
import { type ImplicitOptions, implicitSignals } from './implicit-signals.ts'
import { allImplicitKinds } from './kinds.ts'
import { asksAgain, asksForChange, asksTheSame, reportsError, thanks } from './words.ts'

const minute = 60_000

interface Sketch {
  readonly id: string
  readonly parent: string | null
  readonly message: Message
  readonly at: number
  /** The call that produced it. */
  readonly call?: {
    readonly id: string
    readonly retryOf?: string
    readonly finish?: 'stop' | 'tool_calls' | null
    readonly cancelled?: true
  }
}

function traffic(sketches: readonly Sketch[]): Trajectory {
  const produced = sketches.flatMap((sketch) => (sketch.call ? [{ ...sketch, call: sketch.call }] : []))
  return Trajectory.parse({
    id: 't1',
    origin: { kind: 'traffic', tenant: 'acme', key: 'open', session: 's', agent: null, subject: null, train: true },
    task: { id: 'traffic:t1', instruction: 'x', split: 'train' },
    group: 't1',
    attempt: 0,
    seed: 0,
    nodes: sketches.map(({ id, parent, message, at }) => ({ id, parent, message, spans: [], at })),
    steps: produced.map(({ id, call, at }, index) => ({
      index,
      action: id,
      observations: [],
      decisions: [],
      call: {
        id: call.id,
        choice: 0,
        model: 'm',
        upstream: 'u',
        servedModel: 'm',
        params: {},
        tools: null,
        finish: call.finish === undefined ? 'stop' : call.finish,
        ...(call.cancelled && { cancelled: call.cancelled }),
        usage: null,
        upstreamId: null,
        startedAt: at - 1,
        firstTokenMs: null,
        totalMs: 1,
        retryOf: call.retryOf ?? null,
      },
    })),
    decisions: [],
    stopReason: 'done',
    failure: null,
    finalState: null,
    startedAt: 0,
    seconds: 0,
  })
}

const user = (id: string, parent: string | null, content: string, at: number): Sketch => ({
  id,
  parent,
  message: { role: 'user', content },
  at,
})
const said = (
  id: string,
  parent: string | null,
  content: string,
  at: number,
  call: Sketch['call'] = { id },
): Sketch => ({
  id,
  parent,
  message: { role: 'assistant', content },
  at,
  ...(call ? { call } : {}),
})
const asked = user('q', null, 'How do I cancel my subscription today?', 0)
const answered = said('a', 'q', 'Open Settings, then Billing, and press Cancel.', 1)

const read = (sketches: readonly Sketch[], asOf = 10 * minute, options: ImplicitOptions = {}) =>
  implicitSignals(traffic(sketches), asOf, options).map(({ node, name, value }) => [node, name, value])

it('takes nothing that we put into a conversation for what its user says', () => {
  const thanked = user('u', 'a', 'Thanks, that worked!', 2)
  expect(read([asked, answered, thanked])).toEqual([['a', 'thanks', 1]])
  expect(
    read([
      asked,
      answered,
      { ...thanked, message: { role: 'user', content: thanked.message.content, name: rememberedBy } },
    ]),
  ).toEqual([])
})

describe('what a user does with an answer', () => {
  it.each([
    ['goes on to something new', 'And where do I see my invoices?', 'accepted', 0.5],
    ['thanks', 'Thanks, that worked!', 'thanks', 1],
    ['asks for a change', "That's not right, there is no Billing page.", 'change-request', -1],
    ['asks the same in other words', 'How can I cancel the subscription I have today?', 'rephrased', -0.5],
  ])('%s', (_, text, kind, value) => {
    expect(read([asked, answered, user('u', 'a', text, 2)])).toEqual([['a', kind, value]])
  })

  it('takes another answer to the very same question', () => {
    expect(read([asked, answered, said('b', 'q', 'Write to us.', 5)])).toEqual([['a', 'retried', -0.5]])
  })

  it('does not take an SDK that repeats a lost request, or several answers to one call, for an opinion', () => {
    expect(read([asked, answered, said('b', 'q', 'Write to us.', 5, { id: 'b', retryOf: 'a' })])).toEqual([])
    expect(read([asked, answered, said('b', 'q', 'Write to us.', 1, { id: 'a' })])).toEqual([])
  })

  it('edits the answer: minus what it says otherwise', () => {
    const changed = 'Open Settings, then Account, and press Cancel.'
    const [signal] = implicitSignals(
      traffic([asked, answered, { id: 'e', parent: 'q', message: { role: 'assistant', content: changed }, at: 3 }]),
      minute,
    )
    expect(signal).toMatchObject({ name: 'edited', node: 'a', at: 3, tenant: 'acme', reporter: 'implicit' })
    expect(signal?.value).toBeCloseTo(-7 / 12, 12)
  })

  it('is not an edit when the client put quite another text there', () => {
    const other: Message = { role: 'assistant', content: '0123456789 0123456789 0123456789 0123456789 01234' }
    expect(read([asked, answered, { id: 'e', parent: 'q', message: other, at: 3 }])).toEqual([])
  })

  it('leaves midway, or does not answer what the turn asks for, in time', () => {
    const half = said('a', 'q', 'Open Sett', 1, { id: 'a', finish: null, cancelled: true })
    expect(read([asked, half])).toEqual([['a', 'abandoned', -0.5]])
    const question = said('a', 'q', 'Which subscription do you mean?', 1)
    expect(read([asked, question], 29 * minute)).toEqual([])
    expect(read([asked, question], 31 * minute)).toEqual([['a', 'abandoned', -0.5]])
    expect(read([asked, question], 3 * minute, { abandonedAfter: 2 * minute })).toHaveLength(1)
    expect(read([asked, answered], 31 * minute)).toEqual([])
  })

  it('an upstream that falls, and an answer that was passed over for another, are not left by anybody', () => {
    const half = said('a', 'q', 'Open Sett', 1, { id: 'a', finish: null })
    for (const stopReason of ['model-error', 'interrupted'] as const) {
      expect(implicitSignals({ ...traffic([asked, half]), stopReason }, 10 * minute)).toEqual([])
    }
    const again = said('b', 'q', 'Open Settings.', 5, { id: 'b', retryOf: 'a' })
    expect(read([asked, half, again])).toEqual([])
    const one = said('a', 'q', 'Which subscription?', 1, { id: 'c' })
    const other = said('b', 'q', 'Press Cancel in Billing.', 1, { id: 'c' })
    expect(read([asked, one, other, user('u', 'b', 'And where do I see my invoices?', 2)], 90 * minute)).toEqual([
      ['b', 'accepted', 0.5],
    ])
  })

  it('is not to blame where the upstream or the gateway broke the answer off', () => {
    const broken = said('a', 'q', 'Do you want me to', 1, { id: 'a', finish: null })
    const asking = said('a', 'q', 'Open Settings?', 1, { id: 'a', finish: null })
    for (const turn of [broken, asking]) expect(read([asked, turn], 31 * minute)).toEqual([])
  })

  it('and its tools report errors', () => {
    const called: Sketch = {
      ...answered,
      message: { role: 'assistant', content: '', toolCalls: [{ id: 'c', name: 'cancel', arguments: {} }] },
    }
    const result = (content: string): Sketch => ({
      id: 'r',
      parent: 'a',
      message: { role: 'tool', content, name: 'cancel', toolCallId: 'c' },
      at: 2,
    })
    expect(read([asked, called, result('{"error":"no such user"}')])).toEqual([['a', 'tool-error', -0.5]])
    expect(read([asked, called, result('{"error":null,"done":true}')])).toEqual([])
    const failed = [
      'Failed to connect',
      'ValueError: no such order',
      'psycopg2.OperationalError: server closed the connection',
      'HTTP 503 Service Unavailable',
      'Permission denied: /etc/shadow',
      'Unable to reach the host',
      '{"ok":false}',
      '{"success":false,"reason":"x"}',
      '{"isError":true,"content":[]}',
      '{"status":"error"}',
      '{"status":502}',
      '{"errors":[{"message":"x"}]}',
    ]
    for (const text of failed) expect(read([asked, called, result(text)]), text).toHaveLength(1)
    const fine = ['Found 404 orders', 'No errors', 'Errors: 0', '{"ok":true}', '{"status":200}', '{"errors":[]}', '42']
    for (const text of fine) expect(read([asked, called, result(text)]), text).toEqual([])
    const [signal] = implicitSignals(traffic([asked, called, result('Error: timeout')]), minute)
    expect(signal?.source).toBe('outcome')
  })
})

const answer = answered.message.content
/** What a user's reply to a turn says of the turn, of these two kinds and of those against it. */
const replyTo = (turn: string, reply: string) =>
  read([asked, said('a', 'q', turn, 1), user('u', 'a', reply, 2)]).map(([, kind]) => kind)

describe('what a turn brought about speaks for nothing', () => {
  it.each<[string, string, string]>([
    ['thanks that it asks for', "Reply 'thanks' to continue.", 'Thanks!'],
    ['thanks that it says first', 'Thanks for your patience, perfect! It is done.', 'Perfect, thanks'],
    ['an option by number', '1. Cancel today\n2. Cancel later', '2'],
    ['an option by name', 'Cancel today, or cancel at the end of the month.', 'at the end of the month'],
    ['an answer to a question', 'Which subscription do you mean?', 'The newspaper that I took out in spring'],
    [
      'an answer to a question that stands first',
      'Which one is it? I can only see two of them.',
      'It is the newspaper',
    ],
    ['an answer to a question in Chinese', '请问您指的是哪个订阅？谢谢。', 'The newspaper that I took out in spring'],
    ['an answer to a question in Arabic', 'أي اشتراك تقصد؟ شكرا.', 'The newspaper that I took out in spring'],
    ['an answer to a question in Greek', 'Ποια συνδρομή εννοείτε;', 'The newspaper that I took out in spring'],
    ['details that it asks for without a mark', 'Please tell me your customer number.', 'It is number 4711-0815'],
    ['leave to go on', 'Part 1 of 2: open Settings. To be continued.', 'go on'],
    ['as much in German', 'Teil 1 von 2: Einstellungen.', 'weiter'],
    ['as much in Chinese', '第一部分：打开设置。', '继续'],
    ['words that it quotes', 'Note: "I agree to the terms of the subscription".', 'I agree to the terms'],
    ['invisible text', '\u200b\u2063', 'And where do I see my invoices?'],
    ['a question in pieces', 'Wh\u200bich one is it\u2063?\u200b', 'It is the newspaper of spring'],
  ])('%s', (_, turn, reply) => expect(replyTo(turn, reply)).toEqual([]))

  it('nor does a dodge after which the same is asked again', () => {
    expect(replyTo('I see.', asked.message.content)).toEqual(['rephrased'])
    const dodged = [
      asked,
      said('a', 'q', 'Which one?', 1),
      user('u', 'a', 'The newspaper', 2),
      said('b', 'u', 'I see.', 3),
      user('v', 'b', 'So how do I cancel my subscription today?', 4),
    ]
    expect(read(dodged)).toEqual([['b', 'rephrased', -0.5]])
  })

  it('nor do a hundred calls between a question and its answer', () => {
    const calling: Message = { role: 'assistant', content: '', toolCalls: [{ name: 't', arguments: {} }] }
    const calls = Array.from({ length: 200 }, (_, i): Sketch => {
      const message: Message = i % 2 === 0 ? calling : { role: 'tool', name: 't', content: 'ok' }
      return { id: `c${i}`, parent: i === 0 ? 'q' : `c${i - 1}`, message, at: 1 }
    })
    const story = [asked, ...calls, said('a', 'c199', 'I see.', 2), user('u', 'a', asked.message.content, 3)]
    expect(read(story)).toEqual([['a', 'rephrased', -0.5]])
  })

  it('while what speaks against it counts, whatever it asks, offers or says', () => {
    for (const turn of [answer, `${answer} Is it wrong?`, `${answer} Do not say that is wrong.`]) {
      expect(replyTo(turn, 'That is wrong.')).toEqual(['change-request'])
      expect(replyTo(turn, 'How can I cancel the subscription I have today?')).toEqual(['rephrased'])
    }
  })

  it('no words that a turn adds, and no question, ever earn it more', () => {
    const text = fc.constantFrom(
      'Thanks!',
      'go on',
      'And where do I see my invoices?',
      'That is wrong',
      'yes',
      '2',
      'Now Rome',
      '继续',
      asked.message.content,
    )
    const added = fc.constantFrom(
      'What else?',
      'Say thanks.',
      '1, 2 or 3?',
      'Part 1 of 2',
      '还有什么？',
      '\u200b',
      'yes',
      '?',
      'invoices',
    )
    const worth = (turn: string, reply: string) => {
      const values = read([asked, said('a', 'q', turn, 1), user('u', 'a', reply, 2)]).map(([, , value]) =>
        Number(value),
      )
      return values.reduce((sum, value) => sum + value, 0)
    }
    fc.assert(
      fc.property(text, added, (reply, more) => {
        expect(worth(`${answer} ${more}`, reply)).toBeLessThanOrEqual(worth(answer, reply))
        expect(worth(`${more} ${answer}`, reply)).toBeLessThanOrEqual(worth(answer, reply))
      }),
    )
  })

  it('a question of any script is left unanswered, whatever marks end it, and so is a request', () => {
    for (const turn of ['请问是哪个？', 'Which one?**', 'Ποια;', 'Please tell me your customer number.']) {
      expect(read([asked, said('a', 'q', turn, 1)], 31 * minute)).toEqual([['a', 'abandoned', -0.5]])
    }
  })
})

it('reads many answers after one long question, each with a reply, in the time of their number', () => {
  const question = user('q', null, 'How is it? '.repeat(50_000), 0)
  const story = Array.from({ length: 2_000 }, (_, i) => [
    said(`a${i}`, 'q', `Answer ${i}`, i),
    user(`u${i}`, `a${i}`, `And what of the others, then ${i}`, i),
  ])
  const began = performance.now()
  expect(read([question, ...story.flat()], 10 * minute, { kinds: ['accepted'] })).toHaveLength(2_000)
  expect(performance.now() - began).toBeLessThan(5_000)
})

describe('a turn that the client sent back under other tokens', () => {
  const copy: readonly Sketch[] = [
    user('q2', null, asked.message.content, 2),
    { id: 'a2', parent: 'q2', message: answered.message, at: 2 },
  ]

  it('is gone on from where its copy is', () => {
    expect(read([asked, answered, ...copy, user('u', 'a2', 'Thanks!', 3)])).toEqual([['a', 'thanks', 1]])
  })

  it('is neither edited nor retried by its copy, and a retry of the same words is one', () => {
    expect(read([asked, answered, ...copy])).toEqual([])
    expect(read([asked, answered, said('b', 'q', answered.message.content, 5)])).toEqual([['a', 'retried', -0.5]])
  })
})

it('reads thousands of turns at once', () => {
  const story: Sketch[] = []
  for (let i = 0; i < 3_000; i++) {
    story.push(
      user(`u${i}`, i === 0 ? null : `a${i - 1}`, `Question ${i}`, i),
      said(`a${i}`, `u${i}`, `Answer ${i}`, i),
    )
  }
  expect(read(story, 10 * minute, { kinds: ['accepted', 'rephrased'] })).toHaveLength(2_999)
})

it.each<[string, (i: number) => Sketch]>([
  ['another answer each time', (i) => said(`a${i}`, 'q', `Answer ${i}`, i)],
  ['the same answer each time', (i) => said(`a${i}`, 'q', 'Answer', i)],
  [
    'and the client’s own texts',
    (i) => {
      const { call, ...turn } = said(`a${i}`, 'q', `${'x y z '.repeat(300)}${i}`, i)
      return i % 2 === 0 && call ? { ...turn, call } : turn
    },
  ],
])('reads thousands of turns in one place in the time of their number: %s', (_, turn) => {
  const story = [asked, ...Array.from({ length: 6_000 }, (_, i) => turn(i + 1))]
  expect(read(story, 10 * minute).length).toBeGreaterThan(2_000)
})

it('looks for the kinds that are switched on, and sees nothing that happened later', () => {
  const story = [asked, answered, user('u', 'a', 'Thanks!', 5 * minute)]
  expect(read(story, 10 * minute, { kinds: ['accepted'] })).toEqual([])
  expect(read(story, 4 * minute)).toEqual([])
  expect(read(story, 5 * minute)).toEqual([['a', 'thanks', 1]])
})

it('reads words as people mean them', () => {
  for (const text of [
    'Perfect!',
    'No problem, thanks!',
    'No worries, that works perfectly',
    'Nope, all good, cheers',
    'thank you so much',
    '谢谢',
    'Great job, merci',
  ])
    expect([text, thanks(text)]).toEqual([text, true])
  for (const text of [
    'Thanks, but it still fails',
    'Thanks for nothing',
    'Not exactly what I asked',
    'No thanks',
    'perfection is hard',
    'x'.repeat(300) + ' thanks',
  ]) {
    expect([text, thanks(text)]).toEqual([text, false])
  }
  for (const text of [
    'No, the other one',
    'It is wrong',
    'Please fix the second line',
    'it doesn’t work',
    'Try again',
    'No, that is all wrong',
  ]) {
    expect([text, asksForChange(text)]).toEqual([text, true])
  }
  for (const text of [
    'November is fine',
    'No problem!',
    'no, that is all, thank you',
    'What is wrong with the weather in Rome usually called?',
    'Now do Paris',
  ]) {
    expect([text, asksForChange(text)]).toEqual([text, false])
  }
  expect(asksAgain('How do I cancel?', 'How do I cancel?')).toBe(true)
  expect(asksAgain('How do I cancel?', 'Where is the nearest station in Rome?')).toBe(false)
  expect(reportsError('Traceback (most recent call last):')).toBe(true)
  expect(reportsError('errors were found in no file'.slice(0, 6))).toBe(false)
})

it('is a pure function of hostile trajectories: bounded values, unique keys, nodes that exist', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 80 }),
    fc.constantFrom('thanks', 'no', '{"error":1', 'why?'),
  )
  const message: fc.Arbitrary<Message> = fc.oneof(
    text.map((content): Message => ({ role: 'user', content })),
    text.map((content): Message => ({ role: 'assistant', content })),
    text.map((content): Message => ({ role: 'tool', content, name: 't' })),
  )
  fc.assert(
    fc.property(
      fc.array(fc.tuple(message, fc.nat(), fc.nat(100), fc.boolean()), { maxLength: 12 }),
      fc.nat(120),
      (rows, asOf) => {
        const sketches = rows.map(([content, parent, at, ours], i): Sketch => {
          const id = `n${i}`
          const over = i === 0 ? null : `n${parent % i}`
          return {
            id,
            parent: over,
            message: content,
            at,
            ...(ours && content.role === 'assistant' ? { call: { id } } : {}),
          }
        })
        const trajectory = traffic(sketches)
        const signals = implicitSignals(trajectory, asOf, { abandonedAfter: 10 })
        expect(implicitSignals(trajectory, asOf, { abandonedAfter: 10 })).toEqual(signals)
        expect(new Set(signals.map(({ key }) => key)).size).toBe(signals.length)
        const ids = new Set<string>(trajectory.nodes.map(({ id }: TrajectoryNode) => id))
        for (const { node, value, name, at } of signals) {
          expect(ids.has(node ?? '')).toBe(true)
          expect(Math.abs(Number(value))).toBeLessThanOrEqual(1)
          expect(allImplicitKinds).toContain(name)
          expect(at).toBeLessThanOrEqual(asOf)
        }
      },
    ),
  )
})

it.each([
  ['How do I cancel?', 'How do I cancel?', true],
  ['Wann kommt meine Bestellung 12 endlich?', 'Bestellung 12: wann kommt meine endlich?', true],
  ['Where is order 12?', 'Where is order 13?', false],
  ['How do I cancel?', 'Where is the nearest station in Rome?', false],
  ['Hi', 'Hi', false],
])('who comes back: %s %s', (earlier, later, again) => {
  expect(asksTheSame(earlier, later)).toBe(again)
})
