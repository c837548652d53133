import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { editExtent, endsInQuestion, holdsQuestion, isEditOf, saysSomething, textTokens } from './index.ts'

/** A sentence of words that no edit below touches. */
const padding = fc
  .array(fc.constantFrom('lorem', 'ipsum', 'dolor', '东京', '42', 'sit', '—', '\n'), { maxLength: 60 })
  .map((words) => words.join(' '))
const words = fc
  .array(fc.constantFrom('edge', 'plums', 'costs', '7', '3.50', '大阪', 'not', '-1'), { minLength: 1, maxLength: 8 })
  .map((some) => some.join(' '))

describe('an edit', () => {
  it('is no smaller for what is left as it is, wherever it stands', () => {
    fc.assert(
      fc.property(words, words, padding, padding, padding, words, (a, b, before, between, after, kept) => {
        const said = `${before} ${a} ${between} ${kept} ${after}`
        const edited = `${before} ${b} ${between} ${kept} ${after}`
        expect(editExtent(said, edited)).toBeCloseTo(editExtent(a, b), 9)
      }),
    )
  })

  it('of two places is no smaller for what stands between them', () => {
    const [said, edited] = ['It was 3 on Monday.', 'It was 4 on Friday.']
    const between = (text: string) => text.replace(' on ', ` ${'and so on '.repeat(3_000)}on `)
    expect(editExtent(between(said), between(edited))).toBeGreaterThanOrEqual(editExtent(said, edited))
  })

  it('is from 0 to 1, the same in both directions, and 0 for what nobody changed', () => {
    const text = fc.oneof(words, fc.string({ unit: 'binary', maxLength: 200 }))
    fc.assert(
      fc.property(text, text, (a, b) => {
        const extent = editExtent(a, b)
        expect(extent).toBeGreaterThanOrEqual(0)
        expect(extent).toBeLessThanOrEqual(1)
        expect(editExtent(b, a)).toBe(extent)
        expect(editExtent(a, a)).toBe(0)
      }),
    )
  })

  it('of white space and marks alone is next to nothing', () => {
    fc.assert(
      fc.property(fc.array(words, { minLength: 1, maxLength: 6 }), (lines) => {
        expect(editExtent(lines.join(' '), lines.join('\n\n'))).toBe(0)
        expect(editExtent(lines.join(' '), lines.map((line) => `“${line}”`).join(' … '))).toBeLessThan(0.05)
      }),
    )
  })

  it.each<[string, string, string, number]>([
    ['a number', 'Edge has it since 112.', 'Edge has it since 113.', 0.75],
    ['a number in ten thousand words', `112 ${'so it is '.repeat(4_000)}`, `113 ${'so it is '.repeat(4_000)}`, 0.75],
    ['the last number of as many', `${'so it is '.repeat(4_000)} 112.`, `${'so it is '.repeat(4_000)} 113.`, 0.75],
    ['a sign', 'It is -5 degrees.', 'It is 5 degrees.', 0.75],
    ['a currency', 'It costs €5.', 'It costs $5.', 0.5],
    ['a name', 'Ask Ann for it.', 'Ask Bob for it.', 0.25],
    ['a word of an unspaced script', '我住在东京', '我住在大阪', 0.4],
    ['the order', 'from Rome to Oslo', 'from Oslo to Rome', 0.5],
    ['what an edit takes out', `Plums cost 3. ${'And so on, and on. '.repeat(9)}`, 'Plums cost 3.', 1],
    ['invisible characters', 'Plums cost 3.', 'Pl\u200bums cost\u00ad 3.', 0],
  ])('%s', (_, said, edited, extent) => expect(editExtent(said, edited)).toBeCloseTo(extent, 9))

  it('keeps some of the shorter text; padding never makes it another text', () => {
    expect(isEditOf('Plums cost 3 euros a kilo.', 'Plums cost 4 euros a kilo.')).toBe(true)
    expect(isEditOf(`Plums cost 3 euros. ${'And so on. '.repeat(900)}`, 'Plums cost 3 euros.')).toBe(true)
    expect(isEditOf('Plums cost 3 euros a kilo.', 'Write to the shop, please!')).toBe(false)
    fc.assert(
      fc.property(words, words, padding, padding, (a, b, before, after) => {
        if (isEditOf(a, b)) expect(isEditOf(`${before} ${a} ${after}`, `${before} ${b} ${after}`)).toBe(true)
      }),
    )
  })
})

describe('a text says something', () => {
  it.each([
    '3',
    'Nein.',
    '是',
    '👍',
    ',',
    '-',
    '+',
    '`#`',
    '<b>',
    '![](plums.png)',
    '[plums](https://x.y)',
    '\u200bno\u200b',
  ])('%s', (text) => expect(saysSomething(text)).toBe(true))
  it.each([
    '',
    ' \t\n',
    '\u200b\u200c\u2060\ufeff',
    '\u3164\u115f\u00ad',
    '\u0000\u0007\u001b',
    '\u2800',
    '\u202e\u2066\u{E0041}',
    '** **',
    '---\n\n***',
    '>\n>',
    '# \n> \n- ',
    '```\n\n```',
    '```text\n\u200b\n```',
    '| | |\n|---|---|',
    '<!-- it costs 3 -->',
    '<br><br/>\n<p></p>',
    '&nbsp;&#8203;&#x200B;',
    '[](https://x.y)',
    '<!--\nit costs 3\n-->',
    '[//]: # (it costs 3)',
    '` `',
  ])('and not: %j', (text) => expect(saysSomething(text)).toBe(false))

  it('is found in the time of the text: one open mark of code is no trap', () => {
    const before = performance.now()
    expect(saysSomething(`\`${'a'.repeat(200_000)}`)).toBe(true)
    expect(saysSomething('`a'.repeat(100_000))).toBe(true)
    expect(saysSomething('<!--'.repeat(50_000))).toBe(false)
    // Quadratic time is a minute.
    expect(performance.now() - before).toBeLessThan(10_000)
  })

  it('whatever cannot be seen stands around it', () => {
    const invisible = fc.array(fc.constantFrom('\u200b', '\u2063', '\n', ' ', '\u3164', '\u0000', '&nbsp;'))
    fc.assert(
      fc.property(invisible, invisible, (before, after) => {
        expect(saysSomething([...before, ...after].join(''))).toBe(false)
        expect(saysSomething([...before, 'x', ...after].join(''))).toBe(true)
      }),
    )
  })
})

describe('a question', () => {
  it.each([
    'Which one?',
    '请问是哪个？我不知道。',
    'أي طلب؟',
    'Ποια παραγγελία;',
    'Ո՞ր մեկը',
    'የትኛው፧',
    '¿Cuál?',
    'Which?!',
    '(Which one?)',
    'Is that right?.Yes',
    'Is it right?a=',
    'Was that right ok://?!',
    'Right, see https://x.y/z?!',
    '`Shall I go on?.Yes`',
  ])('%s', (text) => expect(holdsQuestion(text)).toBe(true))
  it.each(['Paris.', 'See https://x.y/z?id=3.', 'See https://x.y/z?id=3&q.', 'Plums; pears.'])('and none: %s', (text) =>
    expect(holdsQuestion(text)).toBe(false),
  )
  it('ends a text, whatever marks stand after it', () => {
    for (const end of ['?', '？', '?**', '?)', '? 😊', '?\u200b\n', '؟'])
      expect(endsInQuestion(`Which one${end}`)).toBe(true)
    expect(endsInQuestion('Ποια;')).toBe(true)
    expect(endsInQuestion('Which one? The first.')).toBe(false)
  })
})

it('tokens are words, numbers and units, in any script', () => {
  expect(textTokens('Edge 3,50 € for Ｏｎｅ, don’t! 大阪')).toEqual([
    'edge',
    '3,50',
    '€',
    'for',
    'one',
    'don’t',
    '大',
    '阪',
  ])
})

it('reads hostile texts in no time', () => {
  const began = performance.now()
  for (const unit of [
    '?',
    'a',
    '[',
    '[](',
    '<',
    '<p',
    '<!--',
    '&#',
    '-',
    '1.',
    '`',
    '\u200b',
    '大',
    'http://',
    ' ',
    "'",
  ]) {
    const text = unit.repeat(300_000 / unit.length)
    editExtent(text, `${text}x`)
    isEditOf(`y${text}`, `${text}x`)
    saysSomething(text)
    holdsQuestion(text)
    endsInQuestion(text)
  }
  expect(performance.now() - began).toBeLessThan(5_000)
})
