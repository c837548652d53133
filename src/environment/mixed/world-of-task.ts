import { z } from 'zod'
import { Json, type Task, TaskId } from '../../core/index.ts'
import { MixedWorldError } from './mixed-world-error.ts'

/** What a task of several worlds holds: which world it is of, and what that world's own task holds. */
export const MixedTaskData = z.strictObject({ world: z.string().min(1), data: Json })
export type MixedTaskData = z.infer<typeof MixedTaskData>

/** A world's task beside the name of the world. */
export interface TaskInWorld<N extends string = string> {
  readonly world: N
  /** As the world itself gave it; in other words where it was asked in other words. */
  readonly task: Task
}

const after = (world: string, name: string): string =>
  name.startsWith(`${world}/`) ? name.slice(world.length + 1) : name

/** A world's task among those of others: its id, tier and family begin with the world's name, and its data say it. */
export function taskAmong(world: string, { tier, family, ...task }: Task): Task {
  const id = TaskId.safeParse(`${world}/${task.id}`)
  if (!id.success) {
    throw new MixedWorldError({
      code: 'environment/bad-world',
      message: `The id of the task ${JSON.stringify(task.id)} is too long with the name of its world, ${JSON.stringify(world)}, before it.`,
      hint: 'Give the world or the task a shorter name.',
    })
  }
  return {
    ...task,
    id: id.data,
    data: { world, data: task.data },
    tier: tier === undefined ? world : `${world}/${tier}`,
    ...(family === undefined ? {} : { family: `${world}/${family}` }),
  }
}

/**
 * The other way round. A task that comes from elsewhere, such as a session's, needs only the data.
 * @throws MixedWorldError for data that name none of the worlds.
 */
export function taskInWorld<N extends string>(
  worlds: readonly N[],
  { id, tier, family, ...task }: Task,
): TaskInWorld<N> {
  const read = MixedTaskData.safeParse(task.data)
  const world = worlds.find((name) => name === read.data?.world)
  if (!read.success || world === undefined) {
    const named = read.success ? `of the world ${JSON.stringify(read.data.world)}` : 'of no world'
    throw new MixedWorldError({
      code: 'environment/unknown-world',
      message: `The task ${JSON.stringify(id)} is ${named}, and the worlds are ${worlds.join(', ')}.`,
      hint: 'Take the tasks that mixed() returns, or give a task the data { world, data }.',
    })
  }
  const own = {
    ...(tier === undefined || tier === world ? {} : { tier: after(world, tier) }),
    ...(family === undefined ? {} : { family: after(world, family) }),
  }
  return { world, task: { ...task, id: TaskId.parse(after(world, id)), data: read.data.data, ...own } }
}
