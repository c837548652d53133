import { describe, expect, it } from 'vitest'
import { talk } from '../../../test/support/traffic-session.ts'
import { clearByPractice, clearByWording, questionsBack } from './index.ts'
import { asksBack, claimsToAct } from './words.ts'

// Wordings that were gathered apart from those that the lists were made by.

describe('a turn that only asks', () => {
  it.each([
    'Could you clarify what you are looking for?',
    'What exactly would you like to know about plums?',
    'I want to make sure I get this right. Are you asking about the retail price or the wholesale price?',
    'Hmm, which one?',
    'I need more information to answer that.',
    'Thanks for reaching out! Which region are you in?',
    'Your question could mean several things. What do you mean by price?',
    'There are many possibilities here. Which do you want?',
    'Können Sie mir bitte Ihre Bestellnummer nennen?',
    'Pouvez-vous préciser ?',
    '您能提供更多信息吗？',
  ])('%s', (text) => expect(asksBack(text)).toBe('more'))

  it.each([
    'Paris.',
    'The capital is Paris. Want to know more?',
    'It depends on the season; in summer about 3 euros, in winter 5. Which season are you planning for?',
    'You can find it in Settings. Did you find it?',
    'Why did the chicken cross the road? To get to the other side.',
    'Do you mean order 12? It costs 3 euros.',
    'Es kostet drei Euro. Noch etwas?',
    'Berlin. Oder meintest du Bonn?',
    '',
  ])('is not: %s', (text) => expect(asksBack(text)).toBeNull())

  it('reads hostile texts in no time', () => {
    const began = performance.now()
    for (const text of [
      '?'.repeat(1e6),
      'a'.repeat(1e6),
      'I have '.repeat(1e5),
      '. '.repeat(1e6),
      'please '.repeat(1e5),
      'a@'.repeat(1e5),
      '@'.repeat(1e5),
      'a-'.repeat(1e5),
      'x"'.repeat(1e5),
    ]) {
      asksBack(text)
      claimsToAct(text)
      clearByWording().of({ asked: text, instruction: text })
    }
    expect(performance.now() - began).toBeLessThan(1_000)
  })
})

describe('a claim', () => {
  it.each([
    'I just sent the email to Ann.',
    'I will look into it.',
    'Give me a second while I look that up.',
    'I am checking now.',
  ])('%s', (text) => expect(claimsToAct(text)).toBe(true))
  it.each([
    'Your order was sent on Monday.',
    'The law was changed in 1990.',
    'I will need your order number.',
    'Let me explain.',
    'You will get a refund in 5 days.',
  ])('is not: %s', (text) => expect(claimsToAct(text)).toBe(false))
})

describe('clarity by wording', () => {
  const clarity = (asked: string) => clearByWording().of({ asked, instruction: asked })

  it.each([
    'What is the capital of France?',
    'how much is a plum',
    'sum 3 and 4',
    'Summarise this article: https://x.y/z',
    'list all files in src/reward',
    'Convert ten miles to kilometres please',
    'where does edge cost less than oak?',
    'Wie hoch ist der Eiffelturm?',
    '¿Quién escribió el Quijote?',
    '法国的首都是哪里？',
  ])('clear: %s', (text) => expect(clarity(text)).toBe(1))

  it.each([
    'hello there',
    'It does not work',
    'fix this',
    'Where is my package?',
    'I have a problem with my account',
    'what about the other one?',
    'Book a table',
    'do the same again',
    'Es funktioniert nicht',
    'Ça ne marche pas',
    'Necesito ayuda',
    '这个坏了',
    '',
  ])('unclear: %s', (text) => expect(clarity(text)).toBe(0))
})

describe('clarity by practice', () => {
  const session = (task: string, answer: string, i: number) => talk([task, answer], { id: `b${i}` })
  const baseline = [
    ...Array.from({ length: 9 }, (_, i) => session('Where is my package', 'It is in Oslo.', i)),
    session('Where is my package', 'Which package do you mean?', 9),
    session('Tell me the price of every fruit in the shop', 'Which fruit do you mean?', 10),
  ]
  const clarity = clearByPractice(baseline)
  const of = (asked: string) => clarity.of({ asked, instruction: asked })

  it('is the share of like sessions that answered without asking; the wording counts as one', () => {
    expect(of('Where is my package?')).toBe(9 / 11)
    expect(of('Tell me the price of every fruit')).toBe(0)
    expect(of('What is the capital of France?')).toBe(1)
    expect(of('Fix it')).toBe(0)
  })

  it('a task was not clear whose user had to add to it; one that was answered wrongly was', () => {
    const like = (next: string) =>
      Array.from({ length: 9 }, (_, i) => talk(['Which version has it?', 'Version 9.', next], { id: `b${i}` }))
    const needs = (next: string) =>
      clearByPractice(like(next)).of({ asked: 'Which version has it?', instruction: 'Which version has it?' })
    expect(needs('Which version of Edge has it?')).toBe(0)
    expect(needs('Which version has it?')).toBe(0.9)
    expect(needs('And what of plums?')).toBe(0.9)
  })

  it('reads scripts without blanks', () => {
    const practised = clearByPractice(Array.from({ length: 9 }, (_, i) => session('这个订单坏了吗', '没有。', i)))
    expect(practised.of({ asked: '订单坏了', instruction: '订单坏了' })).toBeGreaterThan(0.8)
  })

  it('decides what is asked back about', () => {
    const asked = talk(['Where is my package?', 'Which package is it?'])
    expect(questionsBack().inspect(asked)).toBeNull()
    expect(questionsBack({ clarity }).inspect(asked)).toContain('Which package')
    expect(questionsBack({ clarity, clearFrom: 0.9 }).inspect(asked)).toBeNull()
    expect(questionsBack({ clarity, allow: 1 }).inspect(asked)).toBeNull()
  })

  it('is known by its sessions', () => {
    expect(clearByPractice(baseline).name).toBe(clarity.name)
    expect(clearByPractice(baseline.slice(1)).name).not.toBe(clarity.name)
    expect(clearByPractice(baseline, { name: 'x' }).name).toBe(clearByPractice([], { name: 'x' }).name)
  })
})
