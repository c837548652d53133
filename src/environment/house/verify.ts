import type { FinalState } from '../../core/index.ts'
import { InvariantError } from '../../errors/index.ts'
import { entry } from '../entry.ts'
import { displaced } from './acts.ts'
import { carried, type House } from './house.ts'
import { HouseFinalState } from './task-data.ts'

/**
 * The checker: 1 when every thing is where it should be, nothing else was moved for good but keys, and `done` was called;
 * else 0.
 * @throws InvariantError when the final state is not of a house.
 */
export function houseVerify(finalState: FinalState): 0 | 1 {
  const { done, before, after, goals } = read(finalState)
  const placed = Object.entries(goals).every(([item, place]) => entry(after.items, item) === place)
  return done && placed && displaced(before, after, goals).length === 0 ? 1 : 0
}

/**
 * How far the task is, for a dense reward: in [0, 1], and 1 exactly when {@link houseVerify} gives 1. What has to be opened
 * counts one when it is, a thing counts one when it was taken and one more in its place; each other thing that was moved
 * takes one away, and `done` counts one when nothing is left to do.
 * @throws InvariantError when the final state is not of a house.
 */
export function houseProgress(finalState: FinalState): number {
  if (houseVerify(finalState) === 1) return 1
  const { before, after, goals, opens } = read(finalState)
  const wanted = Object.entries(goals)
  const taken = wanted.filter(([item, place]) => [carried, place].includes(after.items[item] ?? ''))
  const placed = wanted.filter(([item, place]) => after.items[item] === place)
  const opened = opens.filter((place) => isOpen(after, place))
  const right = opened.length + taken.length + placed.length - displaced(before, after, goals).length
  return Math.max(0, right) / (opens.length + 2 * wanted.length + 1)
}

function isOpen({ rooms, containers }: House, place: string): boolean {
  return entry(containers, place)?.open ?? entry(rooms, place)?.locked === null
}

function read(finalState: FinalState): HouseFinalState {
  const checked = HouseFinalState.safeParse(finalState.state)
  if (!checked.success) throw new InvariantError('the final state is not of a house', checked.error)
  return checked.data
}
