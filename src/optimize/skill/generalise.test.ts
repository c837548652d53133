import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { checkSkill } from '../../agent/index.ts'
import type { Json } from '../../core/index.ts'
import { composed } from './compose.ts'
import { generalised } from './generalise.ts'
import type { Instance } from './routines.ts'

const whose = { owner: { tenant: null, about: null }, model: null }
const word = fc.stringMatching(/^[a-z0-9]{1,8}$/)
const value = fc.oneof(word, fc.integer(), fc.boolean())
const episode = fc.record({ who: word, id: fc.oneof(word, fc.integer()), extra: value, note: word })

/** Finds somebody, and opens what that told, with arguments of the given making. */
const instanceOf = (
  { who, id, extra, note }: { who: string; id: string | number; extra: Json; note: string },
  given: Record<string, Json>,
): Instance => ({
  calls: [
    { name: 'find', arguments: { who }, content: JSON.stringify({ deep: [{ id }], note }) },
    { name: 'open', arguments: { id, extra, tag: `no. ${String(id)}!`, ...given }, content: `opened ${note}` },
  ],
  cue: `Open what ${who} has, ${JSON.stringify(extra)}.`,
  before: [],
  derivedFrom: ['t'],
})

it('covers every episode that it was made from: its skill makes exactly their calls', async () => {
  let made = 0
  const several = fc.array(fc.tuple(episode, fc.dictionary(word, fc.constant('same'), { maxKeys: 2 })), {
    minLength: 2,
    maxLength: 4,
  })
  await fc.assert(
    fc.asyncProperty(several, async (episodes) => {
      const [first] = episodes
      const instances = episodes.map(([one]) => instanceOf(one, first?.[1] ?? {}))
      const common = generalised(instances)
      const whole = common && composed({ names: ['find', 'open'], support: instances.length, instances }, common, whose)
      if (!whole) return
      made++
      await checkSkill({ ...whole.skill, tests: [...whole.tests] })
    }),
    { numRuns: 40, seed: 1 },
  )
  expect(made, 'many generalise').toBeGreaterThan(8)
})

it('is least general: what is equal stays, what an earlier answer holds is taken from it, and only the rest is given', () => {
  const distinct = fc.uniqueArray(episode, { minLength: 2, maxLength: 4, selector: ({ who }) => who })
  fc.assert(
    fc.property(distinct, value, (episodes, fixed) => {
      const different = episodes.map((one, i) => ({ ...one, id: `id${i}x${one.note}`, extra: one.who }))
      const common = generalised(different.map((one) => instanceOf(one, { fixed })))
      const given = common?.calls[1]?.given
      const entries = new Map(given?.kind === 'object' ? given.entries : [])
      expect(entries.get('fixed')).toEqual({ kind: 'constant', value: fixed })
      expect(entries.get('id')).toMatchObject({ kind: 'path', from: 0, path: ['deep', 0, 'id'] })
      expect(entries.get('extra')).toMatchObject({ kind: 'parameter', name: 'who' })
      expect(common?.parameters.map(({ name }) => name)).toEqual(['who'])
    }),
  )
})

it('makes nothing of a value that nobody could have known', () => {
  const [a, b] = ['a', 'b'].map((who) =>
    instanceOf({ who, id: `${who}1`, extra: who, note: who }, { secret: who === 'a' ? 'pear' : 'kiwi' }),
  )
  expect(a && b && generalised([a, b])).toBeNull()
})

it('makes nothing that depends on the order of the episodes', () => {
  const several = fc.uniqueArray(episode, { minLength: 2, maxLength: 4, selector: ({ who }) => who })
  fc.assert(
    fc.property(several, (episodes) => {
      const instances = episodes.map((one) => instanceOf(one, {}))
      const kinds = (of: readonly Instance[]) =>
        generalised(of)?.calls.map(({ given }) =>
          given.kind === 'object' ? given.entries.map(([k, e]) => `${k} ${e.kind}`).toSorted() : given.kind,
        )
      expect(kinds(instances.toReversed())).toEqual(kinds(instances))
    }),
  )
})
