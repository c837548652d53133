import { z } from 'zod'
import { Json, type Task, TaskId } from '../../core/index.ts'
import { MalformedTaskError } from './malformed-task-error.ts'
import { readTaskData } from '../read-task-data.ts'
import { maxArgumentLength } from './tools.ts'

/** What the checker of a search task needs. */
export const SearchTaskData = z.strictObject({
  /** Every right answer, the preferred one first; none longer than the answer tool takes. */
  accepted: z.array(z.string().max(maxArgumentLength).regex(/\S/, 'must not be blank')).min(1),
  /** How the question was made, for a scripted expert; the checker does not read it. */
  question: Json.exactOptional(),
})
export type SearchTaskData = z.infer<typeof SearchTaskData>

/** @throws MalformedTaskError when `task.data` is not a {@link SearchTaskData}. */
export function readSearchTask(task: Task): SearchTaskData {
  return readTaskData(SearchTaskData, task, MalformedTaskError)
}

/** Where a search episode ended: what was answered, and what would have been right. */
export const SearchFinalState = z.strictObject({
  task: TaskId,
  /** `null` when the episode was closed before an answer. */
  answer: z.string().nullable(),
  accepted: z.array(z.string()),
})
export type SearchFinalState = z.infer<typeof SearchFinalState>
