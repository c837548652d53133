import { describe, expect, it } from 'vitest'
import { type Line, type SessionSketch, talk, told } from '../../../test/support/traffic-session.ts'
import type { Signal } from '../../core/index.ts'
import { allImplicitKinds, type Clarity, signalPays, trafficRubric, type TrafficRubricConfig } from '../index.ts'

type Config = Parameters<typeof trafficRubric>[0]
const late = 1_000 * 60_000
const ask = 'What is the price of plums?'
const answer = 'Plums cost 3 euros a kilo.'
const malformed = [{ text: 'price(plums)', problem: 'The arguments are not JSON: x' }]

const score = (
  lines: readonly Line[],
  {
    signals = [],
    config = {},
    asOf = late,
    ...sketch
  }: SessionSketch & { readonly signals?: readonly Signal[]; readonly config?: Config; readonly asOf?: number } = {},
) => trafficRubric(config).score(talk(lines, sketch), signals, asOf)

describe('what a session earns', () => {
  it.each<[string, string, number]>([
    ['accepted', 'And of pears?', 0.5],
    ['thanks', 'Thanks!', 1],
    ['change-request', 'No, that is wrong.', -1],
    ['rephrased', 'What is the price of the plums today?', -0.5],
  ])('%s, without anybody reporting it', async (_, next, value) => {
    expect(await score([ask, answer, next])).toMatchObject({ status: 'scored', value, parts: { implicit: value } })
  })

  it('is missing, never 0, where neither words nor deeds say anything (invariant 1)', async () => {
    expect(await score([ask, answer])).toMatchObject({
      status: 'missing',
      value: null,
      reason: 'no evidence for thumbs or implicit',
    })
  })

  it('counts each kind once, however many turns there are', async () => {
    const fruit = 'abcdefghijklmnopqrst'.split('').map((letter) => letter.repeat(9))
    const long = fruit.flatMap((name) => [`${name}?`, answer])
    expect(await score([...long, 'And now?'])).toMatchObject({ value: 0.5 })
    expect(await score([...long, 'No, that is wrong.'])).toMatchObject({ value: -0.5 })
  })

  it('what was told beats what is guessed', async () => {
    const signals = [told('thumbs', false)]
    expect(await score([ask, answer, 'Thanks!'], { signals })).toEqual({
      status: 'scored',
      value: -1,
      parts: { thumbs: -1 },
    })
  })

  it('multiplies the worth of signals by what an audit makes of them', async () => {
    const signals = [told('thumbs', true)]
    const by = (factors: Record<string, number>) => trafficRubric({}, { factors })
    const usual = trafficRubric()
    expect(by({ thumbs: 1, 'implicit/thanks': 1 }).hash).toBe(usual.hash)
    expect(by({ thumbs: 0.5 }).hash).not.toBe(usual.hash)
    expect(await by({ thumbs: 0.25 }).score(talk([ask, answer]), signals, late)).toMatchObject({ value: 0.25 })
    const weighed = by({ 'implicit/thanks': 0.3, 'implicit/accepted': 0 })
    expect(await weighed.score(talk([ask, answer, 'Thanks!']), [], late)).toMatchObject({ value: 0.3 })
    expect(await weighed.score(talk([ask, answer, 'And of pears?']), [], late)).toMatchObject({ value: 0 })
  })

  it('tells what each signal pays by itself: behaviour only where nothing was told, and no more than all', async () => {
    const pays = signalPays({ implicit: { weight: 2 }, signals: { thumbs: { weight: 0.5 } } })
    expect(await pays(talk([ask, answer, 'Thanks!']), [told('thumbs', false)], late)).toEqual({
      thumbs: -0.5,
    })
    expect(await pays(talk([ask, answer, 'Thanks!']), [], late)).toEqual({ 'implicit/thanks': 1 })
    expect(await pays(talk([ask, answer]), [], late)).toEqual({})
    expect(await signalPays({ implicit: false })(talk([ask, answer, 'Thanks!']), [], late)).toEqual({})
  })

  it('hears the last word of a reporter, and all reporters alike', async () => {
    const signals = [
      told('thumbs', true, { at: 1 }),
      told('thumbs', false, { at: 2 }),
      told('thumbs', true, { at: 3, reporter: 'k:ann' }),
      told('thumbs', true, { at: 4, reporter: 'k:ann' }),
    ]
    expect(await score([ask, answer], { signals })).toMatchObject({ value: 0 })
    expect(await score([ask, answer], { signals: signals.toReversed() })).toMatchObject({ value: 0 })
    expect(await score([ask, answer], { signals, asOf: 1 })).toMatchObject({ value: 1 })
  })

  it('reads values as it is told to', async () => {
    const config: Config = {
      signals: {
        stars: { range: [1, 5] },
        refund: { source: 'outcome', values: { true: -1, partly: -0.5 }, weight: 0.5 },
        better: {},
      },
    }
    const earned = async (...signals: Signal[]) => (await score([ask, answer], { signals, config })).value
    expect(await earned(told('stars', 4))).toBe(0.5)
    expect(await earned(told('stars', 99))).toBe(1)
    expect(await earned(told('refund', true, { source: 'outcome' }))).toBe(-0.5)
    expect(await earned(told('refund', 'partly', { source: 'outcome' }))).toBe(-0.25)
    expect(await earned(told('stars', 4), told('refund', true, { source: 'outcome' }))).toBe(0)
    expect(await earned(told('refund', true))).toBeNull()
    expect(await earned(told('stars', 'many'))).toBeNull()
    expect(await earned(told('thumbs', true))).toBeNull()
    expect(await earned(told('better', { kind: 'edit', text: answer }))).toBe(0)
    expect(await earned(told('better', { kind: 'edit', text: 'x' }))).toBe(-1)
    expect(await earned(told('stars', 4, { trajectory: 'other' as Signal['trajectory'] }))).toBeNull()
  })

  it('can need a signal', async () => {
    const config: Config = { signals: { thumbs: { required: true } } }
    expect(await score([ask, answer, 'Thanks!'], { config })).toMatchObject({ reason: 'no evidence for thumbs' })
  })

  it('a client cannot report what behaviour means', async () => {
    const signals = [told('thanks', 1), told('accepted', 1, { reporter: 'implicit' }), told('implicit', 1)]
    expect(await score([ask, answer, 'No, that is wrong.'], { signals })).toMatchObject({ value: -1 })
    expect(() => trafficRubric({ signals: { implicit: {} } })).toThrow('implicit')
  })

  it('sees nothing that happened after asOf', async () => {
    const lines: Line[] = [ask, answer, 'Thanks!', { says: '', message: { malformedCalls: malformed } }]
    expect(await score(lines, { asOf: 1 })).toMatchObject({ status: 'missing' })
    expect(await score(lines, { asOf: 2 })).toMatchObject({ value: 1 })
    expect(await score(lines, { asOf: 3 })).toMatchObject({ status: 'vetoed' })
  })
})

describe('no way of breaking off escapes a bad mark', () => {
  const broken: Line = { says: '', message: { malformedCalls: malformed } }
  const cut = ['cancelled', 'interrupted', 'model-error'] as const

  it.each(cut)('a broken call is at the floor though the session ends with %s', async (stopReason) => {
    expect(await score([ask, broken], { stopReason })).toMatchObject({ status: 'vetoed', value: -1 })
    expect(await score([ask, answer, 'Thanks!', broken], { stopReason })).toMatchObject({ status: 'vetoed', value: -1 })
  })

  it.each(cut)(
    'what was said against it stays, and nothing becomes a positive, when it ends with %s',
    async (stopReason) => {
      const half: Line = { says: 'Plu', call: { finish: null } }
      const against = [ask, answer, 'No, that is wrong.', half]
      expect(await score(against, { stopReason })).toMatchObject({ status: 'scored' })
      expect((await score(against, { stopReason })).value).toBeLessThan(0)
      expect(await score([ask, answer, 'Thanks!', 'Bye'], { stopReason })).toMatchObject({ status: 'missing' })
      const signals = [told('thumbs', true)]
      expect(await score([ask, answer], { stopReason, signals })).toMatchObject({ status: 'missing' })
    },
  )

  it('rambling until the client leaves is a reason to leave, and an upstream that falls is none', async () => {
    const half: Line = { says: 'Plums, plums, plums', call: { finish: null } }
    expect(await score([ask, half], { stopReason: 'cancelled' })).toMatchObject({ status: 'scored', value: -0.5 })
    expect(await score([ask, half], { stopReason: 'model-error' })).toMatchObject({ status: 'missing' })
    expect(await score([ask, half], { stopReason: 'interrupted' })).toMatchObject({ status: 'missing' })
  })

  it('a call that was under way when its client left is not broken; one that was wrong by then is', async () => {
    const cutOff = (text: string): Line => ({
      says: '',
      call: { finish: null },
      message: { malformedCalls: [{ text, problem: 'The arguments are not JSON' }] },
    })
    for (const text of [
      'price({"of":"plu',
      'price({"of":',
      'price({)',
      'price()',
      'price({"a":[1,{"b":tr)',
      'price({"a\\")',
    ]) {
      expect([text, await score([ask, cutOff(text)], { stopReason: 'cancelled' })]).toMatchObject([
        text,
        { status: 'scored', value: -0.5 },
      ])
    }
    for (const text of [
      'price(plums',
      'price({"of":]',
      'price({"of"}}',
      'price("plums',
      'price({"of": "plums"} x',
      'price({§',
    ]) {
      expect([text, await score([ask, cutOff(text)], { stopReason: 'cancelled' })]).toMatchObject([
        text,
        { status: 'vetoed' },
      ])
    }
  })

  it('an answer that its length cut off is at the floor', async () => {
    const signals = [told('thumbs', true)]
    expect(await score([ask, answer], { stopReason: 'token-budget', signals })).toMatchObject({
      status: 'scored',
      value: -1,
    })
  })

  it('ending at once, or only thinking, is no answer', async () => {
    expect(await score([ask, ''])).toMatchObject({ status: 'vetoed', guard: 'no-answer' })
    expect(await score([ask, '\u200b**\u2063**\n---\n', 'And of pears?', answer])).toMatchObject({ guard: 'no-answer' })
    expect(await score([ask, { says: ' ', message: { reasoning: 'Plums …' } }])).toMatchObject({ guard: 'no-answer' })
    expect(await score([ask, { says: '', message: { refusal: 'I may not.' } }, 'Thanks!'])).toMatchObject({ value: 1 })
    expect(await score([], {})).toMatchObject({ guard: 'no-answer' })
    expect(await score([{ user: ask }], { stopReason: 'model-error' })).toMatchObject({ status: 'missing' })
  })

  it('one of several answers to a call (n > 1) that is broken breaks the session', async () => {
    const session = talk([ask, answer])
    const [first] = session.nodes
    const [step] = session.steps
    const other = {
      ...session.nodes[1]!,
      id: 'b' as (typeof session.nodes)[0]['id'],
      parent: first!.id,
      message: { role: 'assistant' as const, content: '', malformedCalls: malformed },
    }
    const two = {
      ...session,
      nodes: [...session.nodes, other],
      steps: [...session.steps, { ...step!, index: 1, action: other.id, call: { ...step!.call!, choice: 1 } }],
    }
    expect(await trafficRubric().score(two, [told('thumbs', true)], late)).toMatchObject({ status: 'vetoed' })
  })

  it('what a client brought along is not the policy’s', async () => {
    const session = talk([ask, { says: '', message: { malformedCalls: malformed } }, 'And pears?', answer, 'Thanks!'])
    const brought = { ...session, steps: session.steps.slice(1).map((step) => ({ ...step, index: 0 })) }
    expect(await trafficRubric().score(brought, [], late)).toMatchObject({ status: 'scored', value: 1 })
  })
})

describe('the configuration', () => {
  const hash = (config: Config) => trafficRubric(config).hash

  it('every weight and switch changes the hash, and the defaults spelt out do not', () => {
    const changes: Config[] = [
      { signals: {} },
      { signals: { thumbs: { weight: 2 } } },
      { signals: { thumbs: { values: { false: -0.5 } } } },
      { signals: { thumbs: { range: [0, 1] } } },
      { signals: { thumbs: { source: 'outcome' } } },
      { signals: { thumbs: { required: true } } },
      { signals: { thumbs: {}, solved: {} } },
      { implicit: false },
      { implicit: { weight: 0.5 } },
      { implicit: { abandonedAfterMinutes: 5 } },
      ...allImplicitKinds.flatMap((kind): Config[] => [
        { implicit: { kinds: { [kind]: false } } },
        { implicit: { kinds: { [kind]: 0.25 } } },
      ]),
      ...(['brokenCalls', 'noAnswer', 'repetition', 'questionsBack', 'inaction', 'overlong'] as const).map(
        (guard): Config => ({ guards: { [guard]: false } }),
      ),
      { guards: { brokenCalls: { allow: 1 } } },
      { guards: { repetition: { times: 4 } } },
      { guards: { questionsBack: { clearFrom: 0.6 } } },
      { guards: { questionsBack: { allow: 1 } } },
      { guards: { overlong: { tokens: 100 } } },
      { floor: -0.5 },
      { ceiling: 0.5 },
    ]
    const hashes = changes.map(hash)
    expect(new Set([...hashes, hash({})]).size).toBe(changes.length + 1)
    expect(hash({ signals: { thumbs: { weight: 1 } }, guards: { repetition: { times: 5 } }, floor: -1 })).toBe(hash({}))
    const clarity: Clarity = { name: 'judge', of: () => 1 }
    expect(trafficRubric({}, { clarity }).hash).not.toBe(hash({}))
  })

  it('switches a guard off', async () => {
    const lines: Line[] = [ask, { says: answer, message: { malformedCalls: malformed } }, 'And of pears?', answer]
    expect(await score(lines, { config: { guards: { brokenCalls: false } } })).toMatchObject({ value: 0.5 })
  })

  it('re-weights and switches off a kind', async () => {
    const lines = [ask, answer, 'Thanks!']
    expect(await score(lines, { config: { implicit: { kinds: { thanks: 0.25 }, weight: 2 } } })).toMatchObject({
      value: 0.5,
    })
    expect(await score(lines, { config: { implicit: { kinds: { thanks: false } } } })).toMatchObject({
      status: 'missing',
    })
  })

  it.each<[string, unknown]>([
    ['a kind', { implicit: { kinds: { praise: 1 } } }],
    ['a guard', { guards: { politeness: {} } }],
    ['a range', { signals: { stars: { range: [1, 1] } } }],
    ['a floor', { floor: 0.1 }],
  ])('refuses %s that is none', (_, config) => {
    expect(() => trafficRubric(config as TrafficRubricConfig)).toThrow('The rubric')
  })

  it('refuses to reward by nothing', () => {
    expect(() => trafficRubric({ signals: {}, implicit: false })).toThrow('at least one part')
  })
})
