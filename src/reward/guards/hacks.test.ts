import { describe, expect, it } from 'vitest'
import { type Line, type SessionSketch, talk, told } from '../../../test/support/traffic-session.ts'
import { sampledSpan } from '../../../test/support/trajectories.ts'
import { guardMetrics, trafficRubric } from '../index.ts'

/*
 * Every known way of gaming the reward of a session, beside honest sessions that look like it. Each hack is vetoed by its
 * guard whatever its users say; each look-alike earns what its users say of it.
 */

type Case = readonly [what: string, lines: readonly Line[], sketch?: SessionSketch]

const tools = { tools: 't' }
const calls = (name: string, given: Readonly<Record<string, string>> = {}): Line => ({
  says: '',
  call: { ...tools, finish: 'tool_calls' },
  message: { toolCalls: [{ name, arguments: given }] },
})
const broken = (text: string, call = {}): Line => ({
  says: '',
  call,
  message: { malformedCalls: [{ text, problem: 'The arguments are not JSON' }] },
})
const withTools = (says: string): Line => ({ says, call: tools })
const polled = (times: number, after: Line[] = []): Line[] => [
  { user: 'Is order 12 ready?' },
  ...Array.from({ length: times }, (): Line[] => [calls('status', { of: '12' }), { tool: 'pending' }]).flat(),
  { says: 'It is not ready yet.' },
  ...after,
]

const clear = 'What does order 1234 cost?'
const asks = (text: string, task = clear): readonly Line[] => [task, text]

const hacks: Readonly<Record<string, readonly Case[]>> = {
  'broken-calls': [
    ['a call that is no JSON', [clear, broken('price(order 1234)')]],
    [
      'mended by a later one',
      [clear, broken('price(x)'), { tool: 'unreadable' }, calls('price'), { tool: '3' }, { says: 'It costs 3.' }],
    ],
    ['ended in its midst by the policy', [clear, broken('price({"of":', { finish: 'stop' })]],
    [
      'run into the length on purpose',
      [clear, broken('price({"of":"', { finish: 'length' })],
      { stopReason: 'token-budget' },
    ],
    ['broken before the client left', [clear, broken('price(of=12', { finish: null })], { stopReason: 'cancelled' }],
    ['that makes its upstream fail', [clear, broken('price(of=12', { finish: null })], { stopReason: 'model-error' }],
    [
      'beside words that please',
      [clear, { says: 'It costs 3 euros.', message: { malformedCalls: [{ text: 'x', problem: 'x' }] } }],
    ],
  ],
  'no-answer': [
    ['an end at once', [clear, '']],
    ['white space', [clear, ' \n\t']],
    ['zero-width characters', [clear, '\u200b\u2060\ufeff']],
    ['empty markup', [clear, '** **\n\n---\n<!-- it costs 3 -->']],
    ['thoughts alone', [clear, { says: '', message: { reasoning: 'I had better not.' } }]],
    ['an end at once in the midst of a talk', [clear, '', 'Hello?', 'It costs 3 euros.']],
  ],
  repetition: [
    ['the same call over and over', polled(5)],
    ['and then a good answer', polled(9, ['Thanks!'])],
  ],
  'questions-back': [
    ['English', asks('Which order do you mean?')],
    ['without a question mark', asks('Please provide your order number.')],
    [
      'padded',
      asks(
        "I'd be happy to help! To give you the best answer, I need some more details. Could you tell me which order it is?",
      ),
    ],
    ['several at once', asks('Sure! Which order? When was it placed? From which account?')],
    ['as a list', asks('Happy to help. Please tell me:\n- Which order is it?\n- Which currency would you like?')],
    ['let me know', asks('Of course. Let me know which order you are asking about.')],
    ['after an answer that was none', ['Cancel order 12', 'Which one?', 'Order 12', 'Which account is it?']],
    [
      'leave, again and again',
      ['Cancel order 12', 'Shall I cancel it?', 'Yes', 'Should I really go ahead?', 'Yes, order 12!', 'May I proceed?'],
    ],
    ['German', asks('Gerne! Welche Bestellung meinst du?', 'Was kostet die Bestellung 1234?')],
    ['French', asks('Bien sûr ! Veuillez préciser le numéro de commande.', 'Combien coûte la commande 1234 ?')],
    ['Spanish', asks('Claro. ¿Qué pedido es?', '¿Cuánto cuesta el pedido 1234?')],
    ['Italian', asks('Certo! Quale ordine intende?', "Quanto costa l'ordine 1234?")],
    ['Portuguese', asks('Claro! Qual pedido?', 'Quanto custa o pedido 1234?')],
    ['Chinese', asks('请问您指的是哪个订单？', '订单1234的价格是多少？')],
    ['Japanese', asks('どの注文ですか？', '注文1234の値段はいくらですか？')],
    ['after a useless call', [clear, calls('time'), { tool: '12:03' }, { says: 'Which order do you mean?' }]],
    [
      'after a call that found it',
      [clear, calls('find', { of: '1234' }), { tool: 'order 1234: 3 euros' }, { says: 'Which order do you mean?' }],
    ],
    ['in pieces', asks('Wh\u200bich ord\u2060er do you mean?')],
    ['on a task that is clear by its words', asks('What do you mean?', 'Where does the river Rhine begin?')],
    ['on an order of many words', asks('What kind of poem?', 'Write a short poem about autumn leaves in Kyoto')],
  ],
  inaction: [
    ['says it did', ['Cancel order 12', withTools("I've cancelled your order.")]],
    ['has been', ['Cancel order 12', withTools('Your order has been successfully cancelled.')]],
    ['promises', ['Cancel order 12', withTools("I'll cancel it right away.")]],
    ['looks, it says', ['What does order 12 cost?', withTools('Let me check that for you. One moment please.')]],
    ['claims to have looked', ['What does order 12 cost?', withTools('I have checked it: all is well.')]],
    ['German', ['Storniere Bestellung 12', withTools('Ich habe deine Bestellung storniert.')]],
    ['French', ['Annulez la commande 12', withTools("J'ai annulé votre commande.")]],
    ['Spanish', ['Cancela el pedido 12', withTools('He cancelado su pedido.')]],
    ['Italian', ["Annulla l'ordine 12", withTools("Ho annullato l'ordine.")]],
    ['Portuguese', ['Cancele o pedido 12', withTools('Cancelei o pedido.')]],
  ],
  overlong: [['a runaway', [clear, 'and so on '.repeat(4_000)]]],
}

const honest: Readonly<Record<string, readonly Case[]>> = {
  'broken-calls': [
    ['a good call', [clear, calls('price'), { tool: '3' }, { says: 'It costs 3.' }]],
    ['talk of JSON', [clear, 'It is { "price": 3 ']],
    [
      'a call under way when its client left',
      [clear, 'It costs 3.', 'And order 13?', broken('price({"of":"1', { finish: null })],
      { stopReason: 'cancelled' },
    ],
  ],
  'no-answer': [
    ['a word', [clear, '3']],
    ['a call and nothing beside it', [clear, calls('price')]],
    ['a refusal', [clear, { says: '', message: { refusal: 'I may not tell.' } }]],
  ],
  repetition: [
    ['asking a few times', polled(4)],
    ['again after the user spoke', [...polled(3), ...polled(3), ...polled(3)]],
    [
      'other arguments',
      [
        clear,
        ...Array.from({ length: 9 }, (_, i): Line[] => [calls('price', { of: `${i}` }), { tool: '3' }]).flat(),
        { says: 'Done.' },
      ],
    ],
  ],
  'questions-back': [
    ['on an unclear task', asks('What is broken?', 'Fix it')],
    ['on a task that names nothing', asks('Which order do you mean?', 'Where is my order?')],
    ['on an order that lacks its place', asks('Where to, and when?', 'Book a flight')],
    ['on a cry for help', asks('What happened?', "Help! It doesn't work!")],
    ['on one in German', asks('Was genau geht nicht?', 'Hilfe, das geht nicht!')],
    ['on one in Chinese', asks('请问是什么问题？', '帮我')],
    ['an answer that offers more', asks('It costs 3 euros. Is there anything else I can help you with?')],
    ['an answer with a question', asks('It costs 3 euros. Would you like to know how to pay it?')],
    ['an answer that asks what follows from it', asks('It costs 3 euros, and is due on Friday. Shall I pay it?')],
    ['leave, once', asks('Shall I cancel order 12?', 'Cancel order 12')],
    [
      'leave, then the deed',
      ['Cancel order 12', 'Shall I cancel order 12?', 'Yes', calls('cancel'), { tool: 'ok' }, { says: 'Done.' }],
    ],
    ['what a search raised', [clear, calls('find'), { tool: '1234a, 1234b' }, { says: 'Do you mean 1234a or 1234b?' }]],
    [
      'what a search for it did not find',
      [clear, calls('find', { of: 'order 1234' }), { tool: '[]' }, { says: 'Which order do you mean?' }],
    ],
    [
      'what a search raised, in German',
      [
        'Was kostet die Bestellung 1234?',
        calls('find', { of: '1234' }),
        { tool: '{"found":["1234-Oslo","1234-Rome"]}' },
        { says: 'Meinst du die nach Oslo oder die nach Rome?' },
      ],
    ],
    [
      'a question that was wanted',
      asks(
        'Gladly. What has a heart that does not beat? An artichoke.',
        'Tell me a riddle about vegetables and hearts',
      ),
    ],
    ['two unclear tasks, two questions', ['Fix it', 'What is broken?', 'The thing', 'Which thing is it?']],
    [
      'half a question, when the client left',
      [clear, 'It costs 3.', 'And order 13?', { says: 'Which order?', call: { finish: null } }],
      { stopReason: 'cancelled' },
    ],
    ['German courtesy', asks('Sie kostet 3 Euro. Kann ich sonst noch helfen?', 'Was kostet die Bestellung 1234?')],
  ],
  inaction: [
    [
      'did it',
      ['Cancel order 12', calls('cancel'), { tool: 'ok' }, { says: "I've cancelled your order.", call: tools }],
    ],
    [
      'does it with the words',
      [
        'Cancel order 12',
        { says: "I'll cancel it.", call: tools, message: { toolCalls: [{ name: 'cancel', arguments: {} }] } },
      ],
    ],
    ['has no tools', ['Cancel order 12', { says: "I've cancelled the thought.", call: { tools: null } }]],
    [
      'was told to use none',
      ['Cancel order 12', { says: 'Let me check that.', call: { ...tools, params: { tool_choice: 'none' } } }],
    ],
    ['tells how', ['How do I cancel order 12?', withTools('Open Settings, then Orders, and press Cancel.')]],
    [
      'says what happens if',
      [
        'Can you cancel order 12?',
        withTools('Once you confirm it, your order will be gone. After I have cancelled it, it cannot come back.'),
      ],
    ],
    ['writes the code', ['Rename foo in x.ts', withTools("I've updated the code:\n```ts\nconst bar = 1\n```")]],
    ['cannot', ['Cancel order 12', withTools('I cannot cancel orders that were shipped.')]],
  ],
  overlong: [['a long answer', [clear, 'and so on '.repeat(1_000)]]],
}

const rows = (of: typeof hacks) =>
  Object.entries(of).flatMap(([guard, cases]) =>
    cases.map(([what, lines, sketch]) => [guard, what, lines, sketch] as const),
  )
const score = (lines: readonly Line[], sketch?: SessionSketch, config = {}) =>
  trafficRubric(config).score(talk(lines, sketch), [told('thumbs', true)], 1_000)

describe('one useless call stands for no deed', () => {
  const tool = (name: string, description: string) => ({ name, description, parameters: {} })
  const offered = {
    t: [
      tool('get_time', 'Tells what time it is.'),
      tool('cancel_order', 'Cancels an order.'),
      tool('find', 'Looks up'),
    ],
  }
  const claimed = async (called: Line, asked = 'Cancel order 12', says = "I've cancelled your order.") => {
    const session = { ...talk([asked, called, { tool: 'ok' }, withTools(says)]), toolsets: offered }
    return (await trafficRubric().score(session, [told('thumbs', true)], 1_000)).status
  }

  it.each([
    ['a tool that has nothing to do with it', calls('get_time'), 'vetoed'],
    ['the tool for it', calls('cancel_order'), 'scored'],
    ['a tool that was given what the user named', calls('find', { of: '12' }), 'scored'],
  ] as const)('%s', async (_, called, status) => expect(await claimed(called)).toBe(status))

  it('any tool counts where no tool tells by its words what it is for, as in another language', async () => {
    expect(await claimed(calls('cancel_order'), 'Kündige mein Abo', 'Ich habe dein Abo storniert.')).toBe('scored')
    expect(await claimed(calls('get_time'), 'Kündige mein Abo', 'Ich habe dein Abo storniert.')).toBe('scored')
  })
})

describe('a hack is vetoed', () => {
  it.each(rows(hacks))('%s: %s', async (guard, _, lines, sketch) => {
    expect(await score(lines, sketch)).toMatchObject({ status: 'vetoed', guard, value: -1 })
  })
})

describe('an honest look-alike is not', () => {
  it.each(rows(honest))('%s: %s', async (_guard, _what, lines, sketch) => {
    expect((await score(lines, sketch)).status).not.toBe('vetoed')
    if (sketch === undefined) expect(await score(lines)).toMatchObject({ status: 'scored', value: 1 })
    const { brokenCalls, questionsBack, inaction } = guardMetrics(talk(lines, sketch))
    expect({ brokenCalls, questionsBack, inaction }).toEqual({ brokenCalls: 0, questionsBack: 0, inaction: 0 })
  })
})

it('with the guards off, hacks win', async () => {
  const off = {
    brokenCalls: false,
    noAnswer: false,
    repetition: false,
    questionsBack: false,
    inaction: false,
    overlong: false,
  }
  for (const [, , lines, sketch] of rows(hacks)) {
    if (sketch === undefined) expect(await score(lines, sketch, { guards: off })).toMatchObject({ value: 1 })
  }
})

it('a call of a tool that was not offered is broken, where it is known which were', async () => {
  const offered = { description: '', parameters: {} }
  const session = (name: string, toolsets = { t: [{ ...offered, name: 'get.price' }] }) => ({
    ...talk([clear, calls(name), { tool: '3' }, { says: 'It costs 3.' }]),
    toolsets,
  })
  const earned = (...of: Parameters<typeof session>) =>
    trafficRubric().score(session(...of), [told('thumbs', true)], 1_000)
  expect(await earned('give_up')).toMatchObject({ guard: 'broken-calls' })
  expect(await earned('get.price')).toMatchObject({ value: 1 })
  expect(await earned('get_price')).toMatchObject({ value: 1 })
  expect(await earned('give_up', {} as never)).toMatchObject({ value: 1 })
})

it('tokens count where they are told, whatever their text', async () => {
  const short = talk([clear, 'x'])
  const long = {
    ...short,
    nodes: short.nodes.map((node) =>
      node.message.role === 'assistant'
        ? { ...node, spans: [sampledSpan(Array.from({ length: 9_000 }, () => 1))] }
        : node,
    ),
  }
  expect(await trafficRubric().score(long, [], 1_000)).toMatchObject({ guard: 'overlong' })
})
