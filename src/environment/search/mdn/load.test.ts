import { describe, expect, it } from 'vitest'
import { type Action, Split, Task } from '../../../core/index.ts'
import { commonestAnswer } from '../baselines.ts'
import { MalformedCorpusError } from '../malformed-corpus-error.ts'
import { play, scorePolicy } from '../../play.ts'
import { verify } from '../verify.ts'
import { expert, firstHit, questionOf, stratumOf } from './expert.ts'
import { readFeatures } from './features.ts'
import { loadMdn, mdnShelves } from './load.ts'
import { answerQuestion } from './question.ts'
import { browsers, readSupportLines } from './support.ts'

const features = readFeatures()
/** The interface, CSS property, element … that a title belongs to, from the feature's path. */
const familyOf = new Map(
  features.map(({ title, id }) => [
    title,
    id
      .split('.')
      .slice(0, id.startsWith('api.') ? 2 : 3)
      .join('.'),
  ]),
)
const shelves = mdnShelves()
const { environment, tasks } = loadMdn()
const tiersOf = (split: Split) => [
  'single-hop',
  'composed',
  ...(split === 'holdout' ? ['single-hop reworded', 'composed reworded'] : []),
]
const strata = Split.options.flatMap((split) =>
  tiersOf(split).map((tier) => ({ split, tier, those: tasks[split].filter((task) => task.tier === tier) })),
)

describe('the documents', () => {
  it('are all 18,848 features, each with its own title', () => {
    expect(features).toHaveLength(18_848)
    expect(new Set(features.map(({ title }) => title)).size).toBe(18_848)
  })

  it('say what the data says of one that everybody knows', () => {
    const feature = features.find(({ title }) => title === 'aspect-ratio')
    expect(feature?.support).toEqual({ chrome: '88', edge: '88', firefox: '89', opera: '74', safari: '15' })
  })

  it('lie in one split with their whole family, and no shelf holds another', () => {
    const [train, validation, holdout] = Split.options.map(
      (split) => new Set(shelves[split].titles.map((title) => familyOf.get(title))),
    ) as [Set<string>, Set<string>, Set<string>]
    expect([...train].filter((family) => validation.has(family) || holdout.has(family))).toEqual([])
    expect([...validation].filter((family) => holdout.has(family))).toEqual([])
    expect(Math.min(train.size, validation.size, holdout.size)).toBeGreaterThan(300)
  })

  it('have titles of at most 30 characters, or within the limit of the caller’s own measure', () => {
    const longest = (titles: readonly string[], measure: (title: string) => number) => Math.max(...titles.map(measure))
    const words = (title: string) => title.split('.').length
    const short = mdnShelves({ maxTitleLength: 2, titleLength: words })
    for (const split of Split.options) {
      expect(longest(shelves[split].titles, (title) => title.length)).toBe(30)
      expect(longest(short[split].titles, words)).toBe(2)
    }
  })
})

describe('the tasks', () => {
  it('are as many as asked for, well-formed and distinct', () => {
    expect(strata.map(({ those }) => those.length)).toEqual([2048, 2048, 400, 400, 800, 800, 400, 400])
    const all = strata.flatMap(({ split, those }) => those.map((task) => ({ task: Task.parse(task), split })))
    expect(new Set(all.map(({ task }) => task.id)).size).toBe(all.length)
    expect(all.filter(({ task, split }) => task.split !== split)).toEqual([])
  })

  it('name their documents verbatim, each after a space', () => {
    for (const { those } of strata) {
      for (const task of those) {
        for (const title of questionOf(task).titles) expect(task.instruction).toContain(` ${title}`)
      }
    }
  })

  it.each(strata)('let no constant answer score above 0.15 in $split $tier', ({ those }) => {
    expect(commonestAnswer(those).share).toBeLessThanOrEqual(0.15)
  })

  it.each(strata)('let no constant answer per kind and browser score above 0.15 in $split $tier', ({ those }) => {
    for (const stratum of new Set(those.map(stratumOf))) {
      const { share } = commonestAnswer(those.filter((task) => stratumOf(task) === stratum))
      expect(share, stratum).toBeLessThanOrEqual(0.15)
    }
  })

  it('ask of every browser equally often, and sometimes of one that never came', () => {
    for (const { those } of strata.filter(({ tier }) => tier.startsWith('single-hop'))) {
      const counts = browsers.map((browser) => those.filter((task) => questionOf(task).browser === browser).length)
      expect(counts.reduce((sum, count) => sum + count)).toBe(those.length)
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
      expect(those.filter(({ data }) => JSON.stringify(data).includes('never')).length).toBeGreaterThan(
        those.length / 50,
      )
    }
  })

  it.each(strata)('are answered wrongly by whoever opens a wrong hit in $split $tier', ({ those }) => {
    for (const task of those.slice(0, 200)) {
      const question = questionOf(task)
      const hits = question.titles.map((title) => observe(task, search(title)).split('\n'))
      for (const [at, wanted] of question.titles.entries()) {
        expect(hits[at]).toContain(wanted)
        for (const wrong of hits.at(at)!.filter((hit) => hit !== wanted)) {
          const opened = question.titles.with(at, wrong)
          const tables = opened.map((title, i) =>
            readSupportLines(observe(task, search(question.titles.at(i)!), call('open', { title }))),
          )
          const episode = environment.open(task, 0)
          episode.step(call('answer', { text: answerQuestion(question, tables).at(0)! }))
          expect(verify(episode.close()), `${task.instruction} ${wrong}`).toBe(0)
        }
      }
    }
  })

  it.each(strata)('are all solved by the scripted expert in $split $tier', async ({ those }) => {
    const all = { n: those.length, successes: those.length }
    expect(await scorePolicy(environment, expert, those, verify)).toEqual(all)
  })

  it('are noted by the expert, one note a document, where there are several', async () => {
    const browser = '(chrome|edge|firefox|opera|safari)'
    const noted = {
      since: [],
      'which-first': [new RegExp(`^first ${browser} \\S+$`), new RegExp(`^first ${browser} \\S+ \\S+$`)],
      wherever: [/^has( [a-z]+)*$/, /^has( [a-z]+)*$/],
    }
    for (const [kind, forms] of Object.entries(noted)) {
      const task = tasks.validation.find((one) => questionOf(one).kind === kind)!
      const { actions } = await play(environment, expert, task, verify)
      const notes = actions.flatMap((action) => (action.kind === 'message' ? [action.content] : []))
      expect(notes).toEqual(forms.map((form) => expect.stringMatching(form)))
    }
  })

  it('are seldom solved by opening the first hit', async () => {
    for (const { those } of strata) {
      const { n, successes } = await scorePolicy(environment, firstHit, those, verify)
      expect(successes / n).toBeLessThan(0.35)
    }
  })

  it('depend on the seed and on nothing else', () => {
    const few = { train: 60, validation: 30, holdout: 30 }
    const first = loadMdn({ seed: 1, tasks: few }).tasks
    expect(loadMdn({ seed: 1, tasks: few }).tasks).toEqual(first)
    expect(loadMdn({ seed: 2, tasks: few }).tasks).not.toEqual(first)
  })

  it('are refused when the documents do not hold so many', () => {
    expect(() => loadMdn({ tasks: { train: 50, validation: 100_000, holdout: 50 } })).toThrow(MalformedCorpusError)
    expect(() => loadMdn({ maxTitleLength: 0 })).toThrow(MalformedCorpusError)
  })
})

it('shows an episode as short as the study did', async () => {
  const task = tasks.holdout.find(({ tier }) => tier === 'single-hop')!
  const { messages, success } = await play(environment, expert, task, verify)
  expect(success).toBe(true)
  expect(messages.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'tool',
    'assistant',
    'tool',
    'assistant',
    'tool',
  ])
  expect(messages.at(4)!.content.split('\n')).toHaveLength(5)
})

function call(name: string, argument: Record<string, string>): Action {
  return { kind: 'calls', calls: [{ name, arguments: argument }] }
}

function search(title: string): Action {
  return call('search', { query: title })
}

/** What the last of these actions shows, in an episode of its own. */
function observe(task: Task, ...actions: Action[]): string {
  const episode = environment.open(task, 0)
  return actions.map((action) => episode.step(action).messages.at(0)!.content).at(-1)!
}
