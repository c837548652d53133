import { Ajv } from 'ajv'
import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Grammar, Json, JsonSchema } from '../../../core/index.ts'
import { byteLevelSpelling } from '../load/token-bytes.ts'
import { uniform } from '../sampling/uniform.ts'
import { Compiler } from './compiler.ts'
import { ebnfOf } from './ebnf.ts'

/** Every byte, some words, an end. */
const words = ['{"', '":', '", "', 'true', '  ', 'é', '0.', '1e', '}}', '"\n', '😀'].map((word) => Buffer.from(word))
const bytes = [...Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte)), ...words]
const end = bytes.length
const vocabulary = [...bytes.map(byteLevelSpelling), '']

let compiler: Compiler
beforeAll(async () => {
  compiler = await Compiler.open(vocabulary)
})

const isAllowed = (mask: Int32Array, token: number) => ((mask[token >>> 5]! >>> (token & 31)) & 1) === 1

/** Draws evenly among what is allowed; `null` where it did not come to its end. */
async function drawn(grammar: Grammar, seed: number, most = 400): Promise<string | null> {
  const matcher = await compiler.matcher(ebnfOf(grammar), [end], [])
  const said: Uint8Array[] = []
  try {
    for (let i = 0; i < most; i++) {
      const mask = await matcher.allowed()
      const allowed = vocabulary.flatMap((_, token) => (isAllowed(mask, token) ? [token] : []))
      // Ends and closing brackets are preferred, so that most come to their end.
      const closing = allowed.filter((token) => token === end || [34, 93, 125].includes(token))
      const from = closing.length > 0 && uniform(seed, 2 * i) < 0.4 ? closing : allowed
      const token = from[Math.floor(uniform(seed, 2 * i + 1) * from.length)]!
      if (token === end) return Buffer.concat(said).toString()
      matcher.accept(token)
      said.push(bytes[token]!)
    }
    return null
  } finally {
    matcher.dispose()
  }
}

async function accepts(grammar: Grammar, text: string): Promise<boolean> {
  const matcher = await compiler.matcher(ebnfOf(grammar), [end], [])
  try {
    for (const token of [...Buffer.from(text), end]) {
      if (!isAllowed(await matcher.allowed(), token)) return false
      matcher.accept(token)
    }
    return true
  } finally {
    matcher.dispose()
  }
}

const json = (schema: JsonSchema): Grammar => ({ kind: 'json', schema })

const bounds = fc
  .tuple(fc.integer({ min: -120, max: 120 }), fc.nat(1_500))
  .map(([from, length]) => ({ minimum: from, maximum: from + length }))
const { schema } = fc.letrec<{ schema: JsonSchema }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 2, depthSize: 'small' },
    fc.constantFrom<JsonSchema>({ type: 'string' }, { type: 'boolean' }, { type: 'null' }, { type: 'number' }, {}),
    fc.constantFrom<JsonSchema>({ type: 'string', minLength: 1, maxLength: 3 }, { type: ['integer', 'null'] }),
    fc.constantFrom<JsonSchema>({ type: 'string', format: 'date' }, { type: 'string', format: 'ipv4' }),
    bounds.map((both) => ({ type: 'integer', ...both })),
    bounds.map((both) => ({ type: 'number', ...both })),
    bounds.map(({ minimum, maximum }) => ({
      exclusiveMinimum: minimum,
      exclusiveMaximum: maximum + 2,
      type: 'number',
    })),
    fc.constantFrom<JsonSchema>(
      { enum: ['a"b', 'é\n', 1.5, null, { a: [] }] },
      { const: '\\' },
      { enum: [1, 'x'], type: 'integer' },
    ),
    fc.record({ items: tie('schema'), minItems: fc.nat(2) }).map((more) => ({ type: 'array', ...more, maxItems: 3 })),
    fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
    tie('schema').map((additionalProperties) => ({ type: 'object', additionalProperties })),
    fc.tuple(fc.array(tie('schema'), { minLength: 1, maxLength: 4 }), fc.nat(15)).map(([of, required]) => ({
      type: 'object',
      properties: Object.fromEntries(of.map((one, i) => [`p"${i}`, one])),
      required: of.flatMap((_, i) => ((required >> i) & 1 ? [`p"${i}`] : [])),
    })),
  ),
}))

describe('what a schema allows', () => {
  it('parses and validates, whatever is drawn', async () => {
    const ajv = new Ajv({ strict: false, validateFormats: false })
    let ended = 0
    await fc.assert(
      fc.asyncProperty(schema, fc.nat(), async (one, seed) => {
        const text = await drawn(json(one), seed)
        // Bytes that are no UTF-8 are read as more characters than they were said as.
        if (text === null || text.includes('\u{fffd}')) return
        ended++
        expect(ajv.validate(one as object, JSON.parse(text)), `${text} of ${JSON.stringify(one)}`).toBe(true)
      }),
      { numRuns: 150 },
    )
    expect(ended).toBeGreaterThan(75)
  }, 120_000)

  const values: readonly [JsonSchema, Json][] = [
    [{ type: 'object' }, { a: [1, -2.5e-3, { b: null }], ü: 'x\ty "q" 😀' }],
    [{ properties: { a: { type: 'string' }, b: { type: 'integer' }, c: {} }, required: ['b'] }, { b: 7 }],
    [
      { properties: { a: { type: 'string' }, b: { type: 'integer' }, c: {} }, required: ['b'] },
      { a: '', b: 7, c: [] },
    ],
    [{ type: 'object', properties: {} }, {}],
    [
      { propertyNames: { type: 'string' }, additionalProperties: { type: 'number' } },
      { a: 1, b: 2.5 },
    ],
    [
      {
        $defs: { n: { type: 'object', properties: { v: {}, k: { items: { $ref: '#/$defs/n' } } } } },
        $ref: '#/$defs/n',
      },
      { v: 1, k: [{ k: [] }] },
    ],
    [{ type: 'array', items: { $ref: '#' } }, [[], [[]]]],
    [{ type: 'string', format: 'date' }, '2024-02-29'],
    [{ type: 'string', format: 'date-time' }, '2024-12-31T23:59:59.123Z'],
    [{ type: 'string', format: 'uuid' }, '123e4567-e89b-12d3-a456-426614174000'],
    [{ type: 'integer', minimum: -17, maximum: 1234 }, -17],
    [{ type: 'integer', minimum: -17, maximum: 1234 }, 1234],
    [{ type: 'number', minimum: 0, maximum: 1 }, 0.25],
    [{ allOf: [{ $ref: '#/definitions/a' }], definitions: { a: { const: 5 } } }, 5],
  ]
  it.each(values)('%j holds %j, compact and indented', async (one, value) => {
    expect(await accepts(json(one), JSON.stringify(value))).toBe(true)
    expect(await accepts(json(one), JSON.stringify(value, null, 2))).toBe(true)
  })

  it.each<[JsonSchema, string]>([
    [{ type: 'object' }, '[]'],
    [{ type: 'string' }, '"\n"'],
    [{ type: 'string' }, '"\\ud800"'],
    [{ type: 'string', maxLength: 2 }, '"abc"'],
    [{ type: 'string', format: 'date' }, '"2023-02-29"'],
    [{ type: 'integer', minimum: -17, maximum: 1234 }, '1235'],
    [{ type: 'integer', minimum: -17, maximum: 1234 }, '-18'],
    [{ type: 'integer', exclusiveMinimum: 3 }, '3'],
    [{ type: 'number', maximum: 1 }, '1.5'],
    [{ type: 'number' }, `1${'0'.repeat(400)}`],
    [{ properties: { a: {} } }, '{"b":1}'],
    [{ properties: { a: {}, b: {} } }, '{"b":1,"a":1}'],
    [{ properties: { a: {}, b: {} } }, '{"a":1,}'],
    [{}, `[${' '.repeat(40)}]`],
  ])('%j holds not %s', async (one, text) => {
    expect(await accepts(json(one), text)).toBe(false)
  })

  it('is one thing after the other, or any of them', async () => {
    const text = (said: string): Grammar => ({ kind: 'text', text: said })
    const call: Grammar = { kind: 'sequence', of: [text('<é "\\\n>'), json({ type: 'integer' }), text('</>')] }
    const either: Grammar = { kind: 'or', of: [call, text('no')] }
    expect(await accepts(either, '<é "\\\n>12</>')).toBe(true)
    expect(await accepts(either, 'no')).toBe(true)
    expect(await accepts(either, '<é "\\\n>no')).toBe(false)
  })

  it('finds the allowed tokens of a string at once, however many there are', async () => {
    const many = [...vocabulary, ...Array.from({ length: 20_000 }, (_, i) => `word${i}`)]
    const large = await Compiler.open(many)
    const matcher = await large.matcher(ebnfOf(json({ type: 'object' })), [end], [...Buffer.from('{"a": "')])
    const times = []
    for (const byte of Buffer.from('some text of many words')) {
      const start = performance.now()
      await matcher.allowed()
      times.push(performance.now() - start)
      matcher.accept(byte)
    }
    // Tried one by one, they take some 30 ms.
    expect(times.toSorted((a, b) => a - b)[times.length >> 1]).toBeLessThan(5)
  })

  it('goes on after what was taken before', async () => {
    const ebnf = ebnfOf(json({ const: 'abc' }))
    const matcher = await compiler.matcher(ebnf, [end], Buffer.from('"ab'))
    const mask = await matcher.allowed()
    expect(vocabulary.flatMap((_, token) => (isAllowed(mask, token) ? [token] : []))).toEqual([99])
    matcher.dispose()
  })
})

describe('schemas of which exactly one must fit', () => {
  const kind = (name: string, more: object = {}) => ({
    type: 'object',
    properties: { kind: { const: name }, ...more },
    required: ['kind'],
  })
  it.each<[string, JsonSchema]>([
    ['types', { oneOf: [{ type: 'string' }, { type: ['integer', 'null'] }, { type: 'array', items: {} }] }],
    ['listed values', { oneOf: [{ enum: ['a', 1] }, { const: 'b' }, { type: 'boolean' }, { enum: [null] }] }],
    [
      'a property of their own',
      {
        oneOf: [{ $ref: '#/$defs/cat' }, { $ref: '#/$defs/dog' }],
        discriminator: { propertyName: 'kind' },
        $defs: { cat: kind('cat', { lives: { type: 'integer' } }), dog: kind('dog') },
      },
    ],
    [
      'what they must have',
      {
        oneOf: [
          { type: 'object', properties: { mail: { type: 'string' } }, required: ['mail'] },
          { type: 'object', properties: { phone: { type: 'string' } }, required: ['phone'] },
        ],
      },
    ],
  ])('are held to where %s tell them apart', async (_, one) => {
    const ajv = new Ajv({ strict: false })
    for (let seed = 0; seed < 12; seed++) {
      const text = await drawn(json(one), seed)
      if (text !== null) expect(ajv.validate(one as object, JSON.parse(text)), text).toBe(true)
    }
  })

  it('are compared in bounded time, whatever they hold', () => {
    const branch = (seed: number): JsonSchema => ({
      anyOf: Array.from({ length: 40 }, (_, i) => ({
        properties: { a: { $ref: `#/$defs/b${(i + seed) % 8}` } },
        required: ['a'],
      })),
    })
    const $defs = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`b${i}`, branch(i)])) as Record<string, Json>
    const start = performance.now()
    expect(() =>
      ebnfOf(json({ $defs, oneOf: Object.keys($defs).map((name) => ({ $ref: `#/$defs/${name}` })) })),
    ).toThrow('#/oneOf')
    expect(performance.now() - start).toBeLessThan(2_000)
  })
})

describe('a schema that cannot be held', () => {
  it.each<[JsonSchema, string]>([
    [false, '# accepts nothing'],
    [{ $ref: 'https://example.com/schema' }, '#/$ref names no schema'],
    [{ $ref: '#/$defs/gone' }, '#/$ref names no schema in $defs ("#/$defs/gone")'],
    [{ $ref: '#/$defs/__proto__', $defs: {} }, '#/$ref'],
    [{ properties: { a: { not: {} } } }, '#/properties/a/not'],
    [{ properties: { a: { type: 'string', pattern: '(a+)+$' } } }, '#/properties/a/pattern'],
    [{ oneOf: [{}, {}] }, '#/oneOf holds 0 and 1'],
    [{ oneOf: [{ type: 'string' }, { type: 'integer' }, { type: 'number' }] }, '#/oneOf holds 1 and 2'],
    [{ oneOf: [{ const: 1 }, { enum: [2, 1] }] }, '#/oneOf holds 0 and 1'],
    [{ properties: {}, required: ['__proto__'] }, '#/required names'],
    [{ oneOf: [{ required: ['a'] }, { required: ['a', 'b'] }] }, '#/oneOf holds 0 and 1'],
    [{ oneOf: [{ type: 'object' }, { type: 'object', required: ['a'] }] }, '#/oneOf holds 0 and 1'],
    [{ oneOf: Array.from({ length: 65 }, (_, i) => ({ const: i })) }, '#/oneOf holds more than 64'],
    [{ allOf: [{}, {}] }, '#/allOf'],
    [{ type: 'strange' }, '#/type'],
    [{ type: 'object', propertyNames: { enum: ['a'] } }, '#/propertyNames'],
    [{ type: 'array', uniqueItems: true }, '#/uniqueItems'],
    [{ type: 'string', maxLength: 1e9 }, '#/maxLength'],
    [{ type: 'string', format: 'poem' }, '#/format'],
    [{ type: 'integer', minimum: 5, maximum: 4 }, '# leaves no number'],
    [{ type: 'object', additionalProperties: false, required: ['a'] }, '#/required'],
    [{ type: 'string', minimum: 5 }, '#/minimum'],
    [{ enum: [] }, '# accepts nothing'],
  ])('%j is refused by its place', (one, place) => {
    expect(() => ebnfOf(json(one))).toThrow(
      expect.objectContaining({ code: 'model/unusable-grammar', message: expect.stringContaining(place) as string }),
    )
  })

  it('is refused when it is large, deep, or grows large', () => {
    const code = { code: 'model/unusable-grammar' }
    const large = { enum: [Array.from({ length: 30_000 }, (_, i) => i)] }
    let deep: JsonSchema = {}
    for (let i = 0; i < 100; i++) deep = { items: deep }
    const chain = Object.fromEntries(
      Array.from({ length: 200 }, (_, i) => [`a${i}`, { items: { $ref: `#/$defs/a${i + 1}` } }]),
    )
    const long = { properties: { a: { type: 'string', maxLength: 1_000 }, b: { type: 'string', minLength: 900 } } }
    const ranges = Array.from({ length: 600 }, (_, i) => ({ type: 'number', minimum: i * 1_234_567, maximum: 9e8 + i }))
    const start = performance.now()
    for (const one of [
      large,
      deep,
      { enum: ['\u{1F600}'.repeat(30_000)] },
      { $ref: '#/$defs/a0', $defs: { ...chain, a200: {} } },
      long,
      { anyOf: ranges },
    ])
      expect(() => ebnfOf(json(one)), JSON.stringify(one).slice(0, 80)).toThrow(expect.objectContaining(code))
    expect(performance.now() - start).toBeLessThan(2_000)
  })

  it('is refused or held to, whatever stands where a schema should', () => {
    const keyword = fc.constantFrom(
      ...'type properties required items enum const anyOf oneOf allOf $ref $defs minLength maxLength minItems'.split(
        ' ',
      ),
      ...'additionalProperties minimum exclusiveMaximum format pattern not __proto__ toString'.split(' '),
    )
    const { value } = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<Json>(
          null,
          true,
          false,
          0,
          -1,
          1.5,
          1e300,
          '',
          'string',
          'object',
          'array',
          '#',
          '#/$defs/type',
        ),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(keyword, tie('value'), { maxKeys: 4 }),
      ),
    }))
    fc.assert(
      fc.property(value, (one) => {
        try {
          expect(ebnfOf(json(one as JsonSchema))).toMatch(/^root ::= /)
        } catch (error) {
          expect(error).toMatchObject({ code: 'model/unusable-grammar' })
        }
      }),
      { numRuns: 2_000 },
    )
  })
})
