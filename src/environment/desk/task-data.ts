import { z } from 'zod'
import { type Task, TaskId } from '../../core/index.ts'
import { entry } from '../entry.ts'
import { DeskAct, DeskBooks } from './books.ts'
import { MalformedDeskTaskError } from './malformed-desk-task-error.ts'
import { readTaskData } from '../read-task-data.ts'
import { RequestKind, DeskRule } from './rules.ts'

/** What the customer's message says, before it is put into words. */
export const DeskRequest = z.strictObject({
  kind: RequestKind,
  /** What it names: the order, or else the customer and the item. */
  names: z.union([
    z.strictObject({ order: z.string().min(1) }),
    z.strictObject({ customer: z.string().min(1), item: z.string().min(1) }),
  ]),
})
export type DeskRequest = z.infer<typeof DeskRequest>

/** What a desk task holds. */
export const DeskTaskData = z
  .strictObject({
    /** What the company knows when the message comes. */
    books: DeskBooks,
    /** The one act that is right, and the order it is right for. */
    right: z.strictObject({ act: DeskAct, order: z.string().min(1) }),
    /** For scripted policies; the checker does not read it. */
    request: DeskRequest,
    /** Why the act is right, for whoever analyses; nothing that plays reads it. */
    rule: DeskRule,
  })
  .refine(({ books, right }) => entry(books.orders, right.order) !== undefined, 'right.order must be among the orders')
export type DeskTaskData = z.infer<typeof DeskTaskData>

/** @throws MalformedDeskTaskError when `task.data` is not a {@link DeskTaskData}. */
export function readDeskTask(task: Task): DeskTaskData {
  return readTaskData(DeskTaskData, task, MalformedDeskTaskError)
}

/** Where a desk episode ended: the books as they were left, and as they should be. */
export const DeskFinalState = z.strictObject({
  task: TaskId,
  /** Whether the policy said that it was done. */
  ended: z.boolean(),
  books: DeskBooks,
  expected: DeskBooks,
})
export type DeskFinalState = z.infer<typeof DeskFinalState>
