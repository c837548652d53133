import { type LearnableTask, rng } from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import { call, type Policy } from '../play.ts'
import { entry } from '../entry.ts'
import { DeskAct } from './books.ts'
import { findOrder } from './expert.ts'
import type { RequestKind } from './rules.ts'
import { readDeskTask } from './task-data.ts'
import { type ItemView, itemLines, type OrderView, orderLines, readItemLines, readOrderLines } from './views.ts'

/** Ends the episode at once. */
export const deskNull: Policy = async (episode) => {
  await call(episode, 'done', {})
}

/** Does the same act to every order that a message is about. */
export const deskConstant = (act: DeskAct): Policy => deskBySight([], () => '', act)

/** Does any act to the order that the message is about; another seed, other acts. */
export function deskRandom(seed: number): Policy {
  return (episode, task) => {
    const act = present(DeskAct.options[rng('desk-random', seed, task.id).int(DeskAct.options.length)], 'an act')
    return deskConstant(act)(episode, task)
  }
}

/**
 * Decides by the first look, at the order: does what was right most often in `train` for the fact there that bears on the
 * request, whatever is known of the item.
 */
export function deskFirstLook(train: readonly LearnableTask[]): Policy {
  return deskBySight(train, (kind, { status, colour, packed, cover }) => {
    const fact = { unwanted: status, 'wrong-colour': colour === packed, broken: cover }[kind]
    return `${kind} ${fact}`
  })
}

/** What of a request, its order and the item a policy takes notice of, as one key. */
export type DeskSight = (kind: RequestKind, order: OrderView, item: ItemView) => string

/**
 * Does the act that was right most often in `train` for the same sight: the most that whoever ignores the rest can reach.
 * @param otherwise what to do at a sight that `train` lacks.
 */
export function deskBySight(
  train: readonly LearnableTask[],
  sightOf: DeskSight,
  otherwise: DeskAct = 'escalate',
): Policy {
  const counts = new Map<string, Map<DeskAct, number>>()
  for (const task of train) {
    const { books, right, request } = readDeskTask(task)
    const order = present(entry(books.orders, right.order), 'the order')
    const sight = sightOf(request.kind, readOrderLines(orderLines(order)), readItemLines(itemLines(books, order.item)))
    const acts = counts.get(sight) ?? new Map<DeskAct, number>()
    counts.set(sight, acts.set(right.act, (acts.get(right.act) ?? 0) + 1))
  }
  const best = new Map([...counts].map(([sight, acts]) => [sight, [...acts].sort(([, a], [, b]) => b - a)[0]?.[0]]))
  return async (episode, task) => {
    const { request } = readDeskTask(task)
    const id = await findOrder(episode, request)
    const order = readOrderLines(await call(episode, 'order', { id }))
    const item = readItemLines(await call(episode, 'item', { name: order.item }))
    await call(episode, best.get(sightOf(request.kind, order, item)) ?? otherwise, { id })
    await call(episode, 'done', {})
  }
}
