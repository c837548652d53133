import { z } from 'zod'
import type { Task } from '../../core/index.ts'
import { MalformedTaskError } from '../search/malformed-task-error.ts'
import { readSearchTask } from '../search/task-data.ts'
import { attributes } from './attributes.ts'

/** What a question asks for, before it is put into words. */
export const CatalogQuestion = z.strictObject({ part: z.string(), attribute: z.enum(attributes) })
export type CatalogQuestion = z.infer<typeof CatalogQuestion>

/** @throws MalformedTaskError when the task is not one of {@link loadCatalog}. */
export function catalogQuestionOf(task: Task): CatalogQuestion {
  const checked = CatalogQuestion.safeParse(readSearchTask(task).question)
  if (!checked.success) throw new MalformedTaskError(task.id, 'data.question is missing: it is not a catalogue task')
  return checked.data
}
