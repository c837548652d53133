import type { Rng } from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import { Day, Fault, type Field, type Filled, shortDay } from './fields.ts'
import type { FormsNames } from './names.ts'
import { hourFor, type ItemFacts, payFor, postFor } from './rules.ts'
import type { Table } from './table.ts'
import type { FormsRequest, FormsTaskData } from './task-data.ts'

/** How many fields a form has: three, or five with who writes and when. */
export type FormLength = 'short' | 'long'

/** The fields of each kind of form, in their order; the last is the one that a rule decides. */
const fieldsOf: Readonly<Record<FormsRequest['kind'], Readonly<Record<FormLength, readonly Field[]>>>> = {
  order: { short: ['item', 'count', 'post'], long: ['account', 'item', 'count', 'day', 'post'] },
  repair: { short: ['item', 'fault', 'pay'], long: ['account', 'item', 'fault', 'day', 'pay'] },
  visit: { short: ['item', 'day', 'hour'], long: ['account', 'item', 'count', 'day', 'hour'] },
}

/**
 * Draws a table and a request. What decides is dealt, so that every value of the last field is as frequent as the others
 * and neither the message nor the table alone gives it away; the rest is left to chance.
 * @param deal 0 to 3: which of the four values of the last field is right.
 */
export function drawTask(
  kind: FormsRequest['kind'],
  length: FormLength,
  deal: number,
  names: FormsNames,
  random: Rng,
): FormsTaskData {
  const [bySize, byMessage] = [deal % 2 === 0, deal < 2]
  const coin = () => random.int(2) === 0
  const facts: ItemFacts =
    kind === 'repair'
      ? { size: coin() ? 'small' : 'large', cover: bySize ? 'yes' : 'no' }
      : { size: bySize ? 'small' : 'large', cover: coin() ? 'yes' : 'no' }
  const items = random.shuffle(names.items).slice(0, 3)
  const customers = random.shuffle(names.customers).slice(0, 2)
  const table = drawTable(items, customers, facts, random)

  const isLong = length === 'long'
  const about = {
    customer: isLong ? present(customers[0], 'a customer') : null,
    item: present(items[0], 'an item'),
    day: isLong || kind === 'visit' ? pick(Day.options, random) : null,
  }
  const count = () => pick(names.counts[byMessage ? 'few' : 'many'], random)
  const request: FormsRequest =
    kind === 'order'
      ? { kind, ...about, count: count() }
      : kind === 'repair'
        ? { kind, ...about, fault: pick(Fault.options.slice(...(byMessage ? [0, 2] : [2, 4])), random) }
        : {
            kind,
            ...about,
            count: isLong ? pick([...names.counts.few, ...names.counts.many], random) : null,
            part: byMessage ? 'morning' : 'afternoon',
          }
  const fields = [...fieldsOf[kind][length]]
  return { fields, table, expected: filledFor(fields, request, table), request }
}

/** Facts of the first item are given; of the others they are drawn. All codes differ. */
function drawTable(items: readonly string[], customers: readonly string[], facts: ItemFacts, random: Rng): Table {
  const codes = new Set<string>()
  while (codes.size < items.length + customers.length) codes.add(String(100 + random.int(900)))
  const [...all] = codes
  const drawn = (): ItemFacts => ({
    size: random.int(2) === 0 ? 'small' : 'large',
    cover: random.int(2) === 0 ? 'yes' : 'no',
  })
  return {
    customers: Object.fromEntries(customers.map((name, at) => [name, { account: present(all[at], 'a code') }])),
    items: Object.fromEntries(
      items.map((name, at) => [
        name,
        { item: present(all[customers.length + at], 'a code'), ...(at === 0 ? facts : drawn()) },
      ]),
    ),
  }
}

/** The form as it should be sent. */
function filledFor(fields: readonly Field[], request: FormsRequest, { customers, items }: Table): Filled {
  const { item: code, ...facts } = present(items[request.item], 'the item')
  const all: { readonly [F in Field]?: string | undefined } = {
    account: request.customer === null ? undefined : customers[request.customer]?.account,
    item: code,
    day: request.day === null ? undefined : shortDay(request.day),
    ...(request.kind === 'repair' ? {} : { count: request.count === null ? undefined : String(request.count) }),
    ...decided(request, facts),
  }
  return Object.fromEntries(fields.map((field) => [field, present(all[field], field)]))
}

function decided(request: FormsRequest, facts: ItemFacts): Filled {
  switch (request.kind) {
    case 'order':
      return { post: postFor(facts, request.count) }
    case 'repair':
      return { fault: request.fault, pay: payFor(facts, request.fault) }
    case 'visit':
      return { hour: hourFor(facts, request.part) }
  }
}

const pick = <T>(all: readonly T[], random: Rng): T => present(all[random.int(all.length)], 'one of them')
