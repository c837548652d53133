import { z } from 'zod'
import { type Task, TaskId } from '../../core/index.ts'
import { readTaskData } from '../read-task-data.ts'
import { carried, House, isPlace } from './house.ts'
import { MalformedHouseTaskError } from './malformed-house-task-error.ts'

const Goals = z
  .record(z.string(), z.string())
  .refine((goals) => Object.keys(goals).length > 0, 'must hold at least one thing')

/** What the instruction says, for a scripted policy; the checker does not read it. */
export const HouseRequest = z.strictObject({
  kind: z.enum(['move', 'unpack', 'find', 'bring']),
  item: z.string(),
  /** Where the thing is, as far as the instruction says: a room, or a container in a room; `null` for nowhere. */
  from: z.string().nullable(),
  /** Where it belongs: a room, or a container in a room. */
  to: z.string(),
})
export type HouseRequest = z.infer<typeof HouseRequest>

/** What a house episode starts from, and what it shall come to. */
export const HouseTaskData = z
  .strictObject({
    house: House,
    /** Where each thing shall be; things left out shall be where they were, keys anywhere. */
    goals: Goals,
    /** Rooms and containers that have to be opened or unlocked on the way: each is progress. */
    opens: z.array(z.string()),
    request: HouseRequest,
  })
  .refine(
    ({ house, goals }) => Object.keys(goals).every((item) => Object.hasOwn(house.items, item)),
    'every goal must be of a thing of the house',
  )
  .refine(
    ({ house, goals }) => Object.values(goals).every((place) => place !== carried && isPlace(house, place)),
    'every goal must be a place of the house',
  )
  .refine(
    ({ house, goals }) => Object.entries(goals).some(([item, place]) => house.items[item] !== place),
    'some goal must not be reached yet',
  )
  .refine(({ house, opens }) => opens.every((place) => isPlace(house, place)), 'opens must name places of the house')
export type HouseTaskData = z.infer<typeof HouseTaskData>

/** @throws MalformedHouseTaskError when `task.data` is not a {@link HouseTaskData}. */
export function readHouseTask(task: Task): HouseTaskData {
  return readTaskData(HouseTaskData, task, MalformedHouseTaskError)
}

/** Where a house episode ended: the house before and after, what should be where, and whether `done` was called. */
export const HouseFinalState = z.strictObject({
  task: TaskId,
  done: z.boolean(),
  before: House,
  after: House,
  goals: Goals,
  opens: z.array(z.string()),
})
export type HouseFinalState = z.infer<typeof HouseFinalState>
