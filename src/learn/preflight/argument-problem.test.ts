import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Json } from '../../core/index.ts'
import { argumentProblem } from './argument-problem.ts'
import { sampleArguments } from './sample-arguments.ts'

const search = {
  parameters: {
    type: 'object',
    properties: {
      query: { type: 'string' },
      limit: { type: 'integer' },
      sort: { enum: ['new', 'old'] },
      fields: { type: 'array', items: { type: 'string' } },
      where: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      page: { type: 'object', properties: { from: { type: ['number', 'null'] } }, required: ['from'] },
    },
    required: ['query'],
    additionalProperties: false,
  },
}

it.each([
  [{ query: 'a' }],
  [{ query: 'a', limit: 3, sort: 'new', fields: ['b'], where: null, page: { from: null, more: true } }],
])('takes %j', (given) => expect(argumentProblem(given, search)).toBeNull())

it.each<[Record<string, Json>, string]>([
  [{}, '"query" is missing'],
  [{ query: 1 }, '"query" must be string, not number'],
  [{ query: 'a', limit: 1.5 }, '"limit" must be integer, not number'],
  [{ query: 'a', sort: 'best' }, '"sort" is none of its options'],
  [{ query: 'a', fields: ['b', 2] }, '"fields[1]" must be string, not number'],
  [{ query: 'a', where: 1 }, '"where" must be string, not number'],
  [{ query: 'a', page: {} }, '"page.from" is missing'],
  [{ query: 'a', querry: 'b' }, '"querry" is no parameter (did you mean "query"?)'],
  [JSON.parse('{"query": "a", "__proto__": 1}') as Record<string, Json>, '"__proto__" is no parameter'],
])('refuses %j: %s', (given, problem) => expect(argumentProblem(given, search)).toBe(problem))

it('asks for nothing that the schema does not ask for', () => {
  for (const parameters of [{}, { type: 'object' }, { properties: { a: 'nonsense' } }, { type: 'custom' }]) {
    expect(argumentProblem({ a: 1 }, { parameters })).toBeNull()
  }
})

it('takes its own samples', () => {
  expect(sampleArguments(search)).toEqual({ query: 'a' })
  const types = ['string', 'integer', 'number', 'boolean', 'array', 'object', 'null']
  const properties = { ...Object.fromEntries(types.map((type) => [type, { type }])), pick: { enum: ['x'] } }
  const tool = { parameters: { type: 'object', properties, required: [...types, 'pick'], additionalProperties: false } }
  expect(argumentProblem(sampleArguments(tool), tool)).toBeNull()
})

it('never throws, whatever the schema and the arguments', () => {
  const object = fc.dictionary(fc.string(), fc.jsonValue()) as fc.Arbitrary<Record<string, Json>>
  const keyword = fc.constantFrom('type', 'required', 'properties', 'items', 'enum', 'anyOf', 'additionalProperties')
  const schema = fc.dictionary(keyword, fc.jsonValue()) as fc.Arbitrary<Record<string, Json>>
  fc.assert(
    fc.property(object, schema, (given, parameters) => {
      const problem = argumentProblem(given, { parameters })
      expect(problem === null || problem.length > 0).toBe(true)
      expect(Object.keys(sampleArguments({ parameters })).length).toBeGreaterThanOrEqual(0)
    }),
  )
})
