import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TaskId } from '../../core/index.ts'
import { type Asked, familiesOf } from './families.ts'

const asked = (instruction: string, more: Partial<Asked> = {}): Asked => ({ instruction, ...more })
const names = ['Mona', 'Jules', 'Piet', 'Anke', 'Rosa']
const both = names.flatMap((name) => [
  asked(`Which version of edge supports ${name}?`),
  asked(`Close the ticket that ${name} opened, please.`),
])

describe('a wording is a family', () => {
  it('without the words that few tasks share', () => {
    const familyOf = familiesOf(both)
    expect(new Set(both.map(familyOf))).toEqual(
      new Set(['which version of edge supports …', 'close the ticket that … opened please']),
    )
  })

  it('to which a task belongs that was not among those it was found from', () => {
    const familyOf = familiesOf(both)
    expect(familyOf(asked('WHICH version of Edge supports anything else?'))).toBe('which version of edge supports …')
  })

  it('of at most twelve words', () => {
    const long = names.map((name) =>
      asked(`one two three four five six seven eight nine ten eleven twelve end ${name}`),
    )
    expect(familiesOf(long)(long[0]!)).toBe('one two three four five six seven eight nine ten eleven twelve …')
  })

  it('and a task like no other has the name of its tier', () => {
    const familyOf = familiesOf([...both, asked('Do this instead', { tier: 'hard' })])
    expect(familyOf(asked('Do this instead', { tier: 'hard' }))).toBe('hard')
    expect(familyOf(asked('Do that instead'))).toBe('all')
  })
})

describe('where tasks are of several tiers', () => {
  const easy = both.map((task) => ({ ...task, tier: 'easy' }))
  const hard = easy.map(({ instruction }) =>
    asked(instruction.replace(/Mona|Jules|Piet|Anke|Rosa/, '$&x'), { tier: 'hard' }),
  )
  const tiers = [...easy, ...hard]

  it('a family is of one: what is asked alike may be harder in another', () => {
    const familyOf = familiesOf(tiers)
    expect(new Set(tiers.map(familyOf)).size).toBe(4)
    expect(familyOf(tiers[0]!)).toBe('easy: which version of edge supports …')
    expect(familyOf({ ...tiers[0]!, family: 'edge' })).toBe('easy: edge')
    expect(familyOf({ ...tiers[0]!, family: 'easy edge' })).toBe('easy edge')
  })

  it('a wording that few tasks of a tier have is none', () => {
    const all = Array.from({ length: 600 }, (_, i) => asked(`Sort the box ${i}.`, { tier: 'easy' }))
    const few = ['easy', 'hard', 'odd'].map((tier) => asked('Count them all twice', { tier }))
    const familyOf = familiesOf([...all, ...few])
    expect(few.map(familyOf)).toEqual(['easy', 'hard', 'odd'])
    expect(
      familiesOf([asked('x', { tier: 'level 1' }), asked('y', { tier: 'level 10' })])({
        ...asked('z', { tier: 'level 1' }),
        family: 'level 10 z',
      }),
    ).toBe('level 1: level 10 z')
  })

  it('and not where all are of one', () => {
    const familyOf = familiesOf(both.map((task) => ({ ...task, tier: 'easy' })))
    expect(familyOf({ ...both[0]!, tier: 'easy' })).toBe('which version of edge supports …')
  })
})

describe('a name that a task gives', () => {
  it('is its family', () => {
    expect(familiesOf(both)(asked(both[0]!.instruction, { family: 'edge' }))).toBe('edge')
  })

  it('is known by its instruction where the task comes back without it, as in a trajectory', () => {
    const familyOf = familiesOf([asked('Do it.', { family: 'doing', tier: 'easy' })])
    expect(familyOf(asked('Do it.', { tier: 'easy' }))).toBe('doing')
  })
})

it('a training task is known by its id, in whatever words it is asked', () => {
  const id = TaskId.parse('t1')
  const familyOf = familiesOf([asked('Do it.', { id, family: 'doing' }), ...both])
  expect(familyOf(asked('Kindly now it.', { id }))).toBe('doing')
  expect(familyOf(asked('Kindly now it.'))).toBe('all')
})

describe('whatever the instructions are', () => {
  const hostile = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.constantFrom('', '\u0000\u001b[2J\u0007', '???', '…', '\ud800', 'constructor', '__proto__', 'x'.repeat(100_000)),
    fc.constantFrom('word ', '🙂', '\u202e', 'é').map((part) => part.repeat(25_000)),
  )
  const tasks = fc.array(
    fc.record(
      { instruction: hostile, tier: fc.constantFrom('easy', 'hard'), family: fc.constantFrom('mine', '') },
      { requiredKeys: ['instruction'] },
    ),
    { maxLength: 12 },
  )

  it('every task has one family, always the same, with a short name', () => {
    fc.assert(
      fc.property(tasks, hostile, (given, stranger) => {
        const [familyOf, again] = [familiesOf(given), familiesOf(given.toReversed())]
        for (const task of [...given.map(({ instruction }) => asked(instruction)), asked(stranger)]) {
          const family = familyOf(task)
          expect(typeof family).toBe('string')
          // At most twelve of its words, of the first 2,000 characters.
          expect(family.length).toBeLessThanOrEqual(2020)
          expect(familyOf(task)).toBe(family)
          if (given.every((one) => one.family === undefined)) {
            expect(again(task), 'the order of the tasks does not matter').toBe(family)
          }
        }
      }),
      { numRuns: 60 },
    )
  })

  it('instructions without a letter are one family', () => {
    const familyOf = familiesOf([asked('???'), asked('!!!'), asked('\u0007'), asked('…')])
    expect(familyOf(asked('---'))).toBe(familyOf(asked('???')))
  })
})
