import type { z } from 'zod'
import type { Task } from '../core/index.ts'

/**
 * What a task holds beside its words, as an environment describes it.
 * @param Malformed the error of that environment, made with the task's id and what is wrong: `data.files: …`.
 * @throws the error for data of another form.
 */
export function readTaskData<S extends z.ZodType>(
  schema: S,
  task: Task,
  Malformed: new (taskId: string, problem: string) => Error,
): z.output<S> {
  const checked = schema.safeParse(task.data)
  if (checked.success) return checked.data
  const [issue] = checked.error.issues
  throw new Malformed(task.id, `${['data', ...(issue?.path ?? [])].join('.')}: ${issue?.message}`)
}
