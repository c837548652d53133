import { z } from 'zod'

/** Days on which something can be done. */
export const Day = z.enum(['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday'])
export type Day = z.infer<typeof Day>

/** How a day is written in a form. */
export const shortDay = (day: Day): string => day.slice(0, 3).toLowerCase()

/** What can be wrong with a thing. */
export const Fault = z.enum(['crack', 'leak', 'noise', 'smoke'])
export type Fault = z.infer<typeof Fault>

/** The ways in which an order is sent. */
export const Post = z.enum(['letter', 'parcel', 'van', 'truck'])
export type Post = z.infer<typeof Post>

/** How much of a repair the customer pays; `none`: it is not made. */
export const Pay = z.enum(['free', 'half', 'full', 'none'])
export type Pay = z.infer<typeof Pay>

/** The hours at which visits begin. */
export const Hour = z.enum(['8', '10', '14', '16'])
export type Hour = z.infer<typeof Hour>

/** A code of the table. */
export const Code = z.string().regex(/^[1-9]\d\d$/, 'must be three digits')

/** The fields that a form may have. */
export const Field = z.enum(['account', 'item', 'count', 'day', 'fault', 'post', 'pay', 'hour'])
export type Field = z.infer<typeof Field>

/** What a field takes, and how the form says so to whoever gives it something else. No prompt says it. */
const formats: Readonly<Record<Field, { readonly value: z.ZodType<string>; readonly says: string }>> = {
  account: { value: Code, says: 'account takes three digits: look the customer up' },
  item: { value: Code, says: 'item takes three digits: look the item up' },
  count: { value: z.string().regex(/^[1-9]\d?$/), says: 'count takes one or two digits' },
  day: { value: z.enum(Day.options.map(shortDay)), says: 'day takes three letters, as mon' },
  fault: { value: Fault, says: `fault takes ${listed(Fault.options)}` },
  post: { value: Post, says: `post takes ${listed(Post.options)}` },
  pay: { value: Pay, says: `pay takes ${listed(Pay.options)}` },
  hour: { value: Hour, says: `hour takes ${listed(Hour.options)}` },
}

/** What is wrong with a value for a field, in words that teach; `null` where the field takes it. */
export function problemOf(field: Field, value: string): string | null {
  const { value: format, says } = formats[field]
  return format.safeParse(value).success ? null : says
}

/** A form as it is filled in. */
export const Filled = z
  .partialRecord(Field, z.string())
  .refine(
    (filled) => Field.options.every((field) => filled[field] === undefined || problemOf(field, filled[field]) === null),
    'every field must hold what it takes',
  )
export type Filled = z.infer<typeof Filled>

function listed(options: readonly string[]): string {
  return `${options.slice(0, -1).join(', ')} or ${options.at(-1)}`
}
