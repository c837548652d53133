import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Action, Message, Split, Task } from '../../core/index.ts'
import { nullPolicy } from '../null-policy.ts'
import { type Policy, scorePolicy } from '../play.ts'
import { answerByStratum, constantAnswer } from '../search/baselines.ts'
import { MalformedCorpusError } from '../search/malformed-corpus-error.ts'
import { SearchFinalState } from '../search/task-data.ts'
import { verify } from '../search/verify.ts'
import { attributes, readValue } from './attributes.ts'
import { loadCatalog } from './load.ts'
import { catalogParts } from './parts.ts'
import { catalogExpert, catalogFirstHit, catalogFirstLine } from './policies.ts'
import { catalogQuestionOf } from './question.ts'

const { environment, documents, tasks } = loadCatalog()
const splitOf = new Map(catalogParts().map(({ name, split }) => [name, split]))
const strata = Split.options.flatMap((split) =>
  ['catalog', 'catalog reworded']
    .map((tier) => ({ split, tier, those: tasks[split].filter((task) => task.tier === tier) }))
    .filter(({ those }) => those.length > 0),
)
const act = (name: string, args: Record<string, string>): Action => ({
  kind: 'calls',
  calls: [{ name, arguments: args }],
})
const hitsOf = (task: Task, part: string) =>
  (environment.open(task, 0).step(act('search', { query: part })).messages[0]?.content ?? '').split('\n')

describe('the documents', () => {
  it('are parts with eight attributes each, key before value, in two words and perhaps a number', () => {
    expect(documents).toHaveLength(1620)
    for (const { title, lines } of documents) {
      expect(title).toMatch(/^[a-z]+ [a-z]+( \d{1,3})?$/)
      expect(lines.map((line) => line.split(' ')[0])).toEqual([...attributes])
      for (const line of lines) expect(line).toMatch(/^[a-z]+ (\d{1,3}|[A-H][1-9])$/)
    }
  })

  it('lie in one split with all that are called alike, so that a search for one lists no other split', () => {
    for (const { those } of strata) {
      for (const task of those) {
        const { part } = catalogQuestionOf(task)
        expect(splitOf.get(part)).toBe(task.split)
        const hits = hitsOf(task, part)
        expect(hits).toHaveLength(3)
        expect(hits).toContain(part)
        expect(hits).toEqual(hits.toSorted())
        expect(hits.filter((hit) => splitOf.get(hit) !== task.split)).toEqual([])
      }
    }
  })
})

describe('the tasks', () => {
  it('are as many as asked for, well-formed and distinct', () => {
    expect(strata.map(({ split, tier, those }) => [split, tier, those.length])).toEqual([
      ['train', 'catalog', 1024],
      ['validation', 'catalog', 200],
      ['holdout', 'catalog', 400],
      ['holdout', 'catalog reworded', 200],
    ])
    const all = strata.flatMap(({ those }) => those.map((task: Task) => Task.parse(task)))
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
    for (const task of all) expect(task.instruction).toContain(` ${catalogQuestionOf(task).part}`)
  })

  it('ask for each attribute in at least six wordings, and in others that training never uses', () => {
    const families = (some: readonly Task[]) => new Set(some.map(({ family }) => family))
    const seen = families(tasks.train)
    for (const attribute of attributes)
      expect([...seen].filter((family) => family?.startsWith(`${attribute}: `)).length).toBeGreaterThanOrEqual(6)
    const reworded = families(tasks.holdout.filter(({ tier }) => tier === 'catalog reworded'))
    expect(reworded.size).toBeGreaterThanOrEqual(3)
    expect([...reworded].filter((family) => seen.has(family))).toEqual([])
  })

  it('are answered wrongly by whoever reads another part that is listed', () => {
    for (const task of tasks.holdout) {
      const { part, attribute } = catalogQuestionOf(task)
      const text = (title: string) => documents.find((document) => document.title === title)?.lines.join('\n') ?? ''
      const right = readValue(text(part), attribute)
      for (const hit of hitsOf(task, part)) if (hit !== part) expect(readValue(text(hit), attribute)).not.toBe(right)
    }
  })

  it.each(strata)('of $split $tier are solved by the expert, and by nobody who does not look', async ({ those }) => {
    const share = async (policy: Policy) =>
      (await scorePolicy(environment, policy, those, verify)).successes / those.length
    expect(await share(catalogExpert)).toBe(1)
    expect(await share(nullPolicy)).toBe(0)
    expect(await share(catalogFirstHit)).toBeLessThan(0.3)
    expect(await share(catalogFirstLine)).toBeLessThan(0.3)
    expect(await share(constantAnswer(tasks.train))).toBeLessThan(0.2)
    expect(await share(answerByStratum(tasks.train, (task) => catalogQuestionOf(task).attribute))).toBeLessThan(0.2)
  })

  it('depend on the seed and on nothing else', () => {
    const few = { train: 60, validation: 30, holdout: 30 }
    expect(loadCatalog({ seed: 1, tasks: few }).tasks).toEqual(loadCatalog({ seed: 1, tasks: few }).tasks)
    expect(loadCatalog({ seed: 2, tasks: few }).tasks).not.toEqual(loadCatalog({ seed: 1, tasks: few }).tasks)
    expect(loadCatalog({ seed: 2, tasks: few }).documents).toEqual(documents)
  })

  it('are refused when the parts do not hold so many', () => {
    expect(() => loadCatalog({ tasks: { train: 50, validation: 100_000, holdout: 50 } })).toThrow(MalformedCorpusError)
  })
})

const text = fc.oneof(
  fc.constantFrom(...documents.slice(0, 20).map(({ title }) => title), 'water', '..', '__proto__'),
  fc.string({ unit: 'binary' }),
  fc.constant('é'.repeat(300)),
)
const anyCall = fc.record({
  name: fc.oneof(fc.constantFrom('search', 'open', 'answer', 'constructor'), fc.string()),
  arguments: fc.oneof(
    fc.dictionary(fc.constantFrom('query', 'title', 'text'), text, { minKeys: 1, maxKeys: 1 }),
    fc.dictionary(fc.string(), fc.jsonValue() as fc.Arbitrary<string>),
  ),
})

it('an episode never throws at any sequence of calls, and a copy of it goes its own way', () => {
  fc.assert(
    fc.property(fc.array(anyCall, { maxLength: 8 }), fc.array(anyCall, { maxLength: 4 }), (calls, later) => {
      const episode = environment.open(tasks.train.at(0)!, 0)
      for (const call of calls)
        for (const message of episode.step({ kind: 'calls', calls: [call] }).messages) Message.parse(message)
      const before = SearchFinalState.parse(episode.close().state)
      const copy = episode.fork()
      copy.step({ kind: 'calls', calls: [...later, { name: 'answer', arguments: { text: 'x' } }] })
      expect(SearchFinalState.parse(copy.close().state).answer).not.toBeNull()
      expect(episode.close().state).toEqual(before)
    }),
  )
})
