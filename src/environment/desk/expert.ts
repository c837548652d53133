import type { Episode } from '../../core/index.ts'
import { InvariantError } from '../../errors/index.ts'
import { call, type Policy } from '../play.ts'
import { actBy, ruleFor } from './rules.ts'
import { type DeskRequest, readDeskTask } from './task-data.ts'
import { readItemLines, readOrderLines } from './views.ts'

/** Knows the rules and what the message asks; all else it reads from the tools. For demonstrations. */
export const deskExpert: Policy = async (episode, task) => {
  const { request } = readDeskTask(task)
  const id = await findOrder(episode, request)
  const order = readOrderLines(await call(episode, 'order', { id }))
  const item = readItemLines(await call(episode, 'item', { name: order.item }))
  await call(episode, actBy[ruleFor(request.kind, order, item)], { id })
  await call(episode, 'done', {})
}

/**
 * The id of the order that a request is about: named in it, or listed by `customer` after the item's name.
 * @throws InvariantError when the customer has no order of that item.
 */
export async function findOrder(episode: Episode, { names }: DeskRequest): Promise<string> {
  if ('order' in names) return names.order
  const lines = (await call(episode, 'customer', { name: names.customer })).split('\n')
  const line = lines.find((candidate) => candidate.startsWith(`${names.item} `))
  if (line === undefined) throw new InvariantError(`${names.customer} has no order of a ${names.item}`)
  return line.slice(names.item.length + 1)
}
