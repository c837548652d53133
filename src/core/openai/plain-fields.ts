/** An object of JSON whose fields are looked at one by one, without a schema. */
export type Fields = { readonly [name: string]: unknown }

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !Object.hasOwn(value, '__proto__')

export const isTextOrNone = (value: unknown): boolean =>
  value === undefined || value === null || typeof value === 'string'

/** Whether none of these fields holds anything. */
export function hasNone(fields: Fields, names: readonly string[]): boolean {
  for (const name of names) if (fields[name] !== undefined && fields[name] !== null) return false
  return true
}
