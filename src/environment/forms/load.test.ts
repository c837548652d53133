import { describe, expect, it } from 'vitest'
import { play, scorePolicy } from '../play.ts'
import { worldConformance } from '../world.conformance.ts'
import { Field } from './fields.ts'
import { loadForms } from './load.ts'
import {
  type FormsSight,
  formsBySight,
  formsConstant,
  formsCopyist,
  formsExpert,
  formsFirstChoice,
  formsRandom,
  formsRandomChoice,
} from './policies.ts'
import type { ItemFacts } from './rules.ts'
import { FormsFinalState, type FormsRequest, readFormsTask } from './task-data.ts'
import { formsTools } from './tools.ts'
import { formsVerify } from './verify.ts'

const world = loadForms()
const { environment, tasks } = world

/** What decides in a message, whatever its kind. */
const saysOf = (request: FormsRequest) => {
  if (request.kind === 'order') return String(request.count >= 10)
  return request.kind === 'repair' ? request.fault : request.part
}
const factsOf = ({ size, cover }: ItemFacts) => `${size} ${cover}`

worldConformance({
  world,
  load: loadForms,
  expert: formsExpert,
  check: formsVerify,
  calls: { short: [6, 6], long: [9, 9] },
  careless: [
    ['the same form for every message', formsConstant(tasks.train), 0],
    ['anything that the form takes', formsRandom(0), 0],
    ['the words of the message where codes belong', formsCopyist, 0],
    ['copies, and the first choice', formsFirstChoice, 0.3],
    ['copies, and any choice', formsRandomChoice(0), 0.35],
    ['copies, and the most frequent choice', formsBySight(tasks.train, () => ''), 0.3],
    ['copies, and what the message alone says', formsBySight(tasks.train, saysOf), 0.65],
    ['copies, and what the table alone says', formsBySight(tasks.train, (_, facts) => factsOf(facts)), 0.65],
  ],
  namesIn: (task) => {
    const { customers, items } = readFormsTask(task).table
    return [...Object.keys(customers), ...Object.keys(items)]
  },
  words: [
    ...Field.options,
    '417',
    '7',
    'mon',
    'van',
    'free',
    'smoke',
    ...Object.keys(readFormsTask(tasks.train.at(0)!).table.items),
  ],
  finalState: FormsFinalState,
})

describe('the forms', () => {
  it('are decided by the message and the table together, and by nothing else', async () => {
    const both: FormsSight = (request, facts) => `${saysOf(request)} ${factsOf(facts)}`
    const { n, successes } = await scorePolicy(environment, formsBySight(tasks.train, both), tasks.holdout, formsVerify)
    expect(successes).toBe(n)
  })

  it('have numbers of pieces that training never has', () => {
    const countsOf = (all: readonly Parameters<typeof readFormsTask>[0][]) =>
      new Set(all.flatMap((task) => readFormsTask(task).expected.count ?? []))
    const seen = countsOf(tasks.train)
    expect([...countsOf(tasks.holdout)].filter((count) => seen.has(count))).toEqual([])
    expect(countsOf(tasks.holdout).size).toBeGreaterThan(4)
  })

  it('have no rule in any prompt: neither message, nor tool, nor anything that the expert is shown', async () => {
    const values = ['letter', 'parcel', 'van', 'truck', 'free', 'half', 'full']
    const shown = JSON.stringify(formsTools).split(/\W+/)
    for (const task of tasks.train.slice(0, 200)) {
      const { messages } = await play(environment, formsExpert, task, formsVerify)
      shown.push(...messages.filter(({ role }) => role !== 'assistant').flatMap(({ content }) => content.split(/\W+/)))
    }
    expect(values.filter((value) => shown.includes(value))).toEqual([])
  })

  it('name customer and item verbatim after a space, and never a code', () => {
    for (const task of [...tasks.train, ...tasks.holdout]) {
      const { request, expected } = readFormsTask(task)
      for (const name of [request.item, request.customer ?? request.item])
        expect(task.instruction).toContain(` ${name}`)
      expect(task.instruction).not.toContain(expected.item)
    }
  })
})
