import { type LearnableTask, rng, type Task } from '../../core/index.ts'
import { InvariantError, present } from '../../errors/index.ts'
import { call, type Policy } from '../play.ts'
import { Field, Fault, Hour, Pay, Post, shortDay, Day } from './fields.ts'
import { hourFor, ItemFacts, payFor, postFor } from './rules.ts'
import { readLines } from './table.ts'
import { type FormsRequest, readFormsTask } from './task-data.ts'
import { formsCalls, type FormsTool } from './tools.ts'

type Episode = Parameters<Policy>[0]

/** What a policy puts into the field that a rule decides, by what the message and the table say. */
export type Decide = (request: FormsRequest, facts: ItemFacts, task: Task) => string

/** Knows the rules and what the message asks; the form and the codes it reads from the tools. For demonstrations. */
export const formsExpert: Policy = clerk((request, facts) => {
  switch (request.kind) {
    case 'order':
      return postFor(facts, request.count)
    case 'repair':
      return payFor(facts, request.fault)
    case 'visit':
      return hourFor(facts, request.part)
  }
})

/** What the field that a rule decides can hold. */
const choices: Readonly<Record<FormsRequest['kind'], readonly string[]>> = {
  order: Post.options,
  repair: Pay.options,
  visit: Hour.options,
}

/** Copies everything right, and takes the first choice where there is one. */
export const formsFirstChoice: Policy = clerk(({ kind }) => present(choices[kind][0], 'a choice'))

/** Copies everything right, and takes any choice where there is one; another seed, other choices. */
export function formsRandomChoice(seed: number): Policy {
  return clerk(({ kind }, _facts, task) => {
    const random = rng('forms-choice', seed, task.id)
    return present(choices[kind][random.int(choices[kind].length)], 'a choice')
  })
}

/** What of a message and of the table a policy takes notice of, as one key. */
export type FormsSight = (request: FormsRequest, facts: ItemFacts) => string

/**
 * Copies everything right, and decides as was right most often in `train` for the same sight: the most that whoever ignores
 * the rest can reach.
 */
export function formsBySight(train: readonly LearnableTask[], sightOf: FormsSight): Policy {
  const counts = new Map<string, Map<string, number>>()
  const keyOf: FormsSight = (request, facts) => `${request.kind} ${sightOf(request, facts)}`
  for (const task of train) {
    const { table, request, expected, fields } = readFormsTask(task)
    const { size, cover } = present(table.items[request.item], 'the item')
    const sight = keyOf(request, { size, cover })
    const right = present(expected[present(fields.at(-1), 'a field')], 'a value')
    const seen = counts.get(sight) ?? new Map<string, number>()
    counts.set(sight, seen.set(right, (seen.get(right) ?? 0) + 1))
  }
  const best = new Map([...counts].map(([sight, seen]) => [sight, [...seen].sort(([, a], [, b]) => b - a)[0]?.[0]]))
  return clerk((request, facts) => best.get(keyOf(request, facts)) ?? present(choices[request.kind][0], 'a choice'))
}

/** Copies the message's own words into every field, as far as the form takes them, and sends it. */
export const formsCopyist: Policy = async (episode, task) => {
  const { request, fields } = readFormsTask(task)
  const said = new Map<Field, string>([['item', request.item]])
  if (request.customer !== null) said.set('account', request.customer)
  if (request.day !== null) said.set('day', request.day)
  if (request.kind === 'repair') said.set('fault', request.fault)
  else if (request.count !== null) said.set('count', String(request.count))
  for (const field of fields) await use(episode, 'set', `${field} ${said.get(field) ?? request.item}`)
  await use(episode, 'submit')
}

/** Fills in the same form for every message: what each field held most often in `train`. */
export function formsConstant(train: readonly LearnableTask[]): Policy {
  const most = new Map<Field, string>()
  for (const field of Field.options) {
    const counts = new Map<string, number>()
    for (const task of train) {
      const value = readFormsTask(task).expected[field]
      if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1)
    }
    const [first] = [...counts].sort(([, a], [, b]) => b - a)
    if (first !== undefined) most.set(field, first[0])
  }
  return filler((field) => most.get(field) ?? '100')
}

/** Fills in anything that the form takes; another seed, other values. */
export function formsRandom(seed: number): Policy {
  return async (episode, task) => {
    const random = rng('forms-random', seed, task.id)
    const code = () => String(100 + random.int(900))
    const drawn: Readonly<Record<Field, () => string>> = {
      account: code,
      item: code,
      count: () => String(1 + random.int(40)),
      day: () => shortDay(present(Day.options[random.int(5)], 'a day')),
      fault: () => present(Fault.options[random.int(4)], 'a fault'),
      post: () => present(Post.options[random.int(4)], 'a way'),
      pay: () => present(Pay.options[random.int(4)], 'a share'),
      hour: () => present(Hour.options[random.int(4)], 'an hour'),
    }
    await filler((field) => drawn[field]())(episode, task)
  }
}

function filler(valueOf: (field: Field) => string): Policy {
  return async (episode) => {
    for (const field of readFields(await use(episode, 'form'))) await use(episode, 'set', `${field} ${valueOf(field)}`)
    await use(episode, 'submit')
  }
}

/** Reads the form, looks up what has a code, fills in field after field, and sends it. */
function clerk(decide: Decide): Policy {
  return async (episode, task) => {
    const { request } = readFormsTask(task)
    let facts: ItemFacts | null = null
    for (const field of readFields(await use(episode, 'form'))) {
      if (field === 'account') {
        const row = readLines(await use(episode, 'lookup', request.customer ?? ''))
        await use(episode, 'set', `account ${row.get('account')}`)
      } else if (field === 'item') {
        const row = readLines(await use(episode, 'lookup', request.item))
        facts = ItemFacts.parse({ size: row.get('size'), cover: row.get('cover') })
        await use(episode, 'set', `item ${row.get('item')}`)
      } else {
        const decided = () => decide(request, present(facts, 'the facts of the item'), task)
        await use(episode, 'set', `${field} ${saidOf(field, request) ?? decided()}`)
      }
    }
    await use(episode, 'submit')
  }
}

/** What the message says for a field, as the form takes it; `null` for a field that a rule decides. */
function saidOf(field: Field, request: FormsRequest): string | null {
  if (field === 'day' && request.day !== null) return shortDay(request.day)
  if (field === 'fault' && request.kind === 'repair') return request.fault
  if (field === 'count' && request.kind !== 'repair' && request.count !== null) return String(request.count)
  return null
}

function readFields(form: string): readonly Field[] {
  return [...readLines(form).keys()].map((name) => {
    const field = Field.safeParse(name)
    if (!field.success) throw new InvariantError(`"${name}" is no field of a form`)
    return field.data
  })
}

const use = (episode: Episode, tool: FormsTool, text?: string) =>
  call(episode, tool, formsCalls.argumentsOf(tool, text))
