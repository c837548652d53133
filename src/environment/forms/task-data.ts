import { z } from 'zod'
import { type Task, TaskId } from '../../core/index.ts'
import { entry } from '../entry.ts'
import { readTaskData } from '../read-task-data.ts'
import { Day, Fault, Field, Filled } from './fields.ts'
import { MalformedFormsTaskError } from './malformed-forms-task-error.ts'
import { Table } from './table.ts'

const about = {
  /** Who writes, where the form asks for it. */
  customer: z.string().nullable(),
  item: z.string(),
  day: Day.nullable(),
}
const Count = z.int().min(1).max(99)

/** What the customer's message says, before it is put into words; for scripted policies, the checker does not read it. */
export const FormsRequest = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('order'), ...about, count: Count }),
  z.strictObject({ kind: z.literal('repair'), ...about, fault: Fault }),
  z.strictObject({
    kind: z.literal('visit'),
    ...about,
    count: Count.nullable(),
    part: z.enum(['morning', 'afternoon']),
  }),
])
export type FormsRequest = z.infer<typeof FormsRequest>

/** What a form's task holds. */
export const FormsTaskData = z
  .strictObject({
    /** The fields of the form, in their order. */
    fields: z
      .array(Field)
      .min(1)
      .refine((fields) => new Set(fields).size === fields.length, 'must hold each field once'),
    table: Table,
    /** The form as it should be sent. */
    expected: Filled,
    request: FormsRequest,
  })
  .refine(
    ({ fields, expected }) =>
      Object.keys(expected).length === fields.length && fields.every((field) => expected[field] !== undefined),
    'expected must hold exactly the fields of the form',
  )
  .refine(
    ({ table, request }) =>
      entry(table.items, request.item) !== undefined &&
      (request.customer === null || entry(table.customers, request.customer) !== undefined),
    'the table must have what the request is about',
  )
export type FormsTaskData = z.infer<typeof FormsTaskData>

/** @throws MalformedFormsTaskError when `task.data` is not a {@link FormsTaskData}. */
export function readFormsTask(task: Task): FormsTaskData {
  return readTaskData(FormsTaskData, task, MalformedFormsTaskError)
}

/** Where a form's episode ended: the form as it was left, whether it was sent, and as it should be. */
export const FormsFinalState = z.strictObject({
  task: TaskId,
  sent: z.boolean(),
  filled: Filled,
  expected: Filled,
})
export type FormsFinalState = z.infer<typeof FormsFinalState>
