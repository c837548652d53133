import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { checkSkill } from '../../agent/index.ts'
import type { Json } from '../../core/index.ts'
import { composed } from './compose.ts'
import { generalised } from './generalise.ts'
import type { Instance } from './routines.ts'

/** One episode: somebody's order is looked up, and what was found is sent in a way that all episodes share. */
const episode = (name: string, order: string, by: Json): Instance => ({
  cue: `Send the parcel of ${name}.`,
  before: [],
  derivedFrom: [`t-${name}`],
  calls: [
    { name: 'find', arguments: { name, exact: true }, content: JSON.stringify({ order }) },
    { name: 'send', arguments: { order, by }, content: `sent ${order}` },
  ],
})

const whose = { owner: { tenant: null, about: null }, model: null }
const routineOf = (instances: readonly Instance[]) => ({
  names: instances[0]?.calls.map(({ name }) => name) ?? [],
  support: instances.length,
  instances,
})

it('keeps what is equal, takes what was answered from there, and asks for the rest', () => {
  const common = generalised([
    episode('Ann', 'A1', 'bike'),
    episode('Bob', 'B2', 'bike'),
    episode('Cleo', 'C3', 'bike'),
  ])
  expect(common?.calls).toMatchObject([
    {
      name: 'find',
      given: {
        entries: [
          ['name', { kind: 'parameter' }],
          ['exact', { kind: 'constant', value: true }],
        ],
      },
    },
    {
      name: 'send',
      given: {
        entries: [
          ['order', { kind: 'path', from: 0 }],
          ['by', { kind: 'constant', value: 'bike' }],
        ],
      },
    },
  ])
  expect(common?.parameters.map(({ name, values }) => [name, values])).toEqual([['name', ['Ann', 'Bob', 'Cleo']]])
})

it('is nothing where a value came from nowhere that the policy could see', () => {
  const secret = (name: string, code: string) => episode(name, 'A1', code)
  expect(generalised([secret('Ann', 'x91'), secret('Bob', 'q17')])).toBeNull()
  expect(generalised([])).toBeNull()
})

const word = fc.stringMatching(/^[A-Za-z][A-Za-z0-9]{2,9}$/)

it('covers every episode that it was made of: the skill makes their calls, whatever the values are', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.tuple(word, word), { selector: ([name]) => name, minLength: 3, maxLength: 5 }),
      fc.oneof(word, fc.integer(), fc.boolean(), fc.constant(null)),
      async (people, by) => {
        const instances = people.map(([name, order]) => episode(name, order, by))
        const common = generalised(instances)
        const made = common && composed(routineOf(instances), common, whose)
        expect(made).not.toBeNull()
        if (made) await checkSkill({ ...made.skill, tests: [...made.tests] })
      },
    ),
    { numRuns: 25 },
  )
})

it('is least general: what all episodes share is asked of nobody', () => {
  fc.assert(
    fc.property(fc.array(word, { minLength: 2, maxLength: 6 }), word, (names, order) => {
      const same = names.map(() => episode('Ann', order, 'bike'))
      const common = generalised(same)
      expect(common?.parameters).toEqual([])
      for (const { given } of common?.calls ?? []) expect(given.kind).toBe('constant')
    }),
  )
})
