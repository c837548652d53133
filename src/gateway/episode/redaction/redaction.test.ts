import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { redactionOf } from './redaction.ts'

const redact = (kind: string, text: string) => redactionOf([kind]).redact(text).value

describe('a built-in kind', () => {
  it.each([
    ['email', 'write to jo.smith+bills@mail.example.co.uk, please', 'write to [email], please'],
    ['email', '<müller@bücher.example>', '<[email]>'],
    ['email', 'a@b.org and c@d.org', '[email] and [email]'],
    ['email', 'x@y.com@z.com', '[email]@z.com'],
    ['email', "ask o'brien@example.com, 'jo@example.com'", "ask [email], '[email]'"],
    ['email', '/?to=jo%40example.com&x', '/?to=[email]&x'],
    ['email', 'हिन्दी@उदाहरण.भारत, mu\u0308ller@example.com, jo＠example.com', '[email], [email], [email]'],
    ['phone', 'ring +1\u202f555\u202f123\u202f4567 or 415\u2011555\u20112671', 'ring [phone] or [phone]'],
    ['card', '4111\u00a01111\u00a01111\u00a01111, 4111\u20111111\u20111111\u20111111', '[card], [card]'],
    ['iban', 'DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000', '[iban]'],
    ['secret', 'gsk_abcdefghijklmnop0123 hvs.CAESIabcdefghijklmnop', '[secret] [secret]'],
    ['phone', 'call +49 (0)30 901820-0 now', 'call [phone] now'],
    ['phone', '(415) 555-2671 or 415-555-2671 or 1-415-555-2671', '[phone] or [phone] or [phone]'],
    ['phone', 'ring 030 1234567.', 'ring [phone].'],
    ['phone', 'tel:+14155552671', 'tel:[phone]'],
    ['card', 'paid with 4111 1111 1111 1111 in 2024', 'paid with [card] in 2024'],
    ['card', '378282246310005', '[card]'],
    ['card', 'no 17 4111-1111-1111-1111', 'no 17 [card]'],
    ['iban', 'to DE89 3704 0044 0532 0130 00 please', 'to [iban] please'],
    ['iban', 'GB82WEST12345698765432.', '[iban].'],
    ['iban', 'nl91 abna 0417 1643 00', '[iban]'],
    ['ip', 'from 192.168.0.1:8080 to ::1.', 'from [ip]:8080 to [ip].'],
    ['ip', '2001:db8::8a2e:370:7334', '[ip]'],
    ['ip', '::ffff:10.1.2.3', '[ip]'],
    ['secret', 'key sk-proj-abcdefghij1234567890', 'key [secret]'],
    ['secret', `Authorization: Bearer ${'a1'.repeat(12)}==`, 'Authorization: Bearer [secret]'],
    ['secret', 'AKIAIOSFODNN7EXAMPLE', '[secret]'],
    ['secret', 'postgres://app:hunter2@db.example/x', 'postgres://[secret]@db.example/x'],
    ['secret', `t=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4`, 't=[secret]'],
    ['secret', 'eyJhbGciOiJIUzI1NiJ9.eyJzd', '[secret]'],
    [
      'secret',
      'a -----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- b -----BEGIN PRIVATE KEY-----\nMII',
      'a [secret] b [secret]',
    ],
  ])('%s: %s', (kind, text, expected) => {
    expect(redact(kind, text)).toBe(expected)
  })

  it.each([
    ['email', 'user@localhost, @name, a@b, @'],
    ['phone', '2024-01-15 10:30:00, 12345678, 1.234.567,89, order 4711-0815, v1.20.300.4000'],
    ['card', '4111 1111 1111 1112, 1700000000000, 0.4111111111111111, 12345678901234567890'],
    ['iban', 'DE89 3704 0044 0532 0130 01, ab12cdef, GB82'],
    ['ip', '1.2.3, 256.1.1.1, std::vec, a::b, 10:30:45, 1.2.3.4.5'],
    ['secret', 'sk-learn, basic understanding, a bearer of news, https://example.com/@name, risk-abcdefghij1234567'],
  ])('%s leaves what only looks like one: %s', (kind, text) => {
    expect(redactionOf([kind]).redact(text)).toEqual({ value: text, changed: false })
  })

  it.each(['email', 'phone', 'card', 'iban', 'ip', 'secret'])(
    '%s takes time in proportion to a text, whatever it holds',
    (kind) => {
      const redaction = redactionOf([kind])
      const hostile = [
        'a',
        '@',
        'a@',
        "a'",
        '%40',
        'a%40',
        '1\u202f',
        'a.',
        '1',
        '1 ',
        '1-',
        ':',
        'a:',
        '1.',
        'eyJ',
        'eyJa.',
        '-----BEGIN PRIVATE KEY-----',
      ]
      for (const piece of [
        ...hostile,
        'Bearer ',
        'sk-',
        '://a:',
        'DE89',
        '(',
        '+1',
        '😀',
        'sk-a1',
        '1.1.1.',
        ' Bearer a',
        '%61',
        '%2561',
        '&#64;',
        '&#',
        '\\u0040',
        '\u200b',
        'a\u200b@',
        'ａ',
        'data:',
        'data:a/a;',
        'data:text/plain;base64,',
        'data:text/plain;base64,YUBi',
      ]) {
        // In the square of its length it would outlast the test's time by minutes.
        redaction.redact(piece.repeat(300_000 / piece.length))
      }
    },
    60_000,
  )

  it('finds what stands in any text, and nothing after that', () => {
    const kinds = { email: 'jo@example.org', card: '4111111111111111', iban: 'DE89370400440532013000' }
    fc.assert(
      fc.property(fc.constantFrom('email', 'card', 'iban'), fc.string(), fc.string(), (kind, before, after) => {
        const text = `${before} ${kinds[kind]} ${after}`
        const once = redact(kind, text)
        expect(once).toContain(`[${kind}]`)
        expect(redact(kind, once)).toBe(once)
      }),
    )
  })
})

describe('what is hidden', () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  it.each([
    ['by characters that nobody sees', 'ask j\u200bo@exam\u00adple.o\ufe0frg now', 'ask [email] now'],
    ['by other forms of its characters', 'ask ｊｏ＠ｅｘａｍｐｌｅ．ｏｒｇ now', 'ask [email] now'],
    ['by percent-encoding', 'to=%6a%6F%40example%2Eorg&x=%20', 'to=[email]&x=%20'],
    ['by percent-encoding, three times', 'to=jo%252540example%25252Eorg.', 'to=[email].'],
    ['by HTML’s references', '<b>jo&#64;example&period;org</b> jo&#x40;example.org', '<b>[email]</b> [email]'],
    ['by JSON’s escapes', String.raw`{"to":"jo\u0040example\u002eorg"}`, '{"to":"[email]"}'],
    ['by several of these at once', 'jo%E2%80%8B&commat;ex\u2060ample.org é', '[email] é'],
    [
      'twice, with what is not hidden between',
      'a@b.org jo%40%62.org c@d.org ａ@b.org',
      '[email] [email] [email] [email]',
    ],
    [
      'in a data URL in a text',
      `see data:text/plain;base64,${base64('I am jo@example.org')} and data:,jo@example.org`,
      `see data:text/plain;base64,${base64('I am [email]')} and data:,[email]`,
    ],
    [
      'in a picture that is none',
      `data:image/png;base64,${base64('jo@example.org')}`,
      `data:image/png;base64,${base64('[email]')}`,
    ],
    ['in base64 as a whole', base64(`jo@example.org ${'é'.repeat(900)}`), base64(`[email] ${'é'.repeat(900)}`)],
  ])('%s, is found, and nothing else changes', (_, text, expected) => {
    expect(redact('email', text)).toBe(expected)
  })

  it('is found wherever it stands in any text', () => {
    const forms = ['j\u200bo@example.org', 'jo%40example%2eorg', 'jo&#64;example&#46;org', 'ｊｏ＠example．org']
    const anything = fc.string({ unit: 'grapheme' })
    fc.assert(
      fc.property(fc.constantFrom(...forms), anything, anything, (form, before, after) => {
        const once = redact('email', `${before} ${form} ${after}`)
        expect(once).toContain('[email]')
        expect(once).not.toContain(form)
        expect(redact('email', once)).toBe(once)
      }),
    )
  })

  it.each([
    `${String.fromCharCode(0xfb01)}ne, 100 %25, &amp; \u00e9 ❤️ %zz %c3%28`,
    `data:image/png;base64,${Buffer.from([137, 80, 78, 71, 0, 255]).toString('base64')}`,
    'cGFzc3dvcmQgbm90IGFuIGFkZHJlc3M=',
  ])('is left as it is where nothing must not be written: %s', (text) => {
    expect(redactionOf(['email', 'card']).redact(text)).toEqual({ value: text, changed: false })
  })
})

describe('rules of one’s own', () => {
  it('are applied in their order, beside the built-in ones', () => {
    const redaction = redactionOf([{ name: 'ticket', pattern: 'T-\\d+' }, 'email', { name: 'who', pattern: 'email' }])
    expect(redaction.redact('T-12 by jo@example.org')).toEqual({ value: '[ticket] by [email]', changed: true })
  })

  it('know no text beside their matches', () => {
    const redaction = redactionOf([{ name: 'letter', pattern: '(?<=a)b*' }])
    expect(redaction.active).toBe(true)
    expect(redaction.redact('a ab abb')).toEqual({ value: 'a a[letter] a[letter]', changed: true })
  })

  it('that run out of stack on a text leave nothing of it', () => {
    const redaction = redactionOf([{ name: 'run', pattern: '^(?:x|y)+z' }])
    expect(redaction.redact('x'.repeat(12_000_000))).toEqual({ value: '[unread]', changed: true })
  })

  it.each([
    ['a pattern that doubles with each letter', { name: 'x', pattern: '(?:a+)+b' }, 'gateway/slow-redaction-pattern'],
    ['one that does so with words', { name: 'x', pattern: '(?:\\w+\\s?)+:' }, 'gateway/slow-redaction-pattern'],
    ['one of two ways', { name: 'x', pattern: '(?:ж|[а-я])+ю' }, 'gateway/slow-redaction-pattern'],
    ['a bracket that is not closed', { name: 'x', pattern: '(' }, 'gateway/bad-redaction-pattern'],
    ['a pattern that matches everywhere', { name: 'x', pattern: 'a*' }, 'gateway/bad-redaction-pattern'],
    ['a pattern of a book’s length', { name: 'x', pattern: 'a'.repeat(5_000) }, 'gateway/bad-redaction-pattern'],
    ['a kind that there is not', 'emial', 'gateway/unknown-redaction'],
    ['the name of something else', 'constructor', 'gateway/unknown-redaction'],
  ])('refuses %s', (_, rule, code) => {
    expect(() => redactionOf([rule])).toThrow(expect.objectContaining({ code }))
  })

  it('names the kind that was meant', () => {
    expect(() => redactionOf(['emial'])).toThrow(expect.objectContaining({ hint: 'Did you mean "email"?' }))
  })
})

it('does nothing without rules', () => {
  const redaction = redactionOf([])
  expect(redaction.active).toBe(false)
  expect(redaction.redact('jo@example.org')).toEqual({ value: 'jo@example.org', changed: false })
})
