import { z } from 'zod'

/** Any JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

/** Deeper nesting than this is an attack on whoever walks the value, not data. */
export const maxJsonDepth = 256

function isJson(value: unknown, depth = 0): value is Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || depth === maxJsonDepth) return false
  if (!Array.isArray(value) && !isPlain(value)) return false
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    if (!isJson(item, depth + 1)) return false
  }
  return true
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/**
 * Accepts exactly what survives a round trip through JSON text, and returns it as it is. At most 256 levels deep. Built on
 * `unknown`, which schema documents (OpenAPI) know as "anything"; a custom type they refuse.
 */
export const Json = z
  .unknown()
  .refine((value) => isJson(value), { error: 'not a JSON value', abort: true }) as z.ZodType<Json>

/** A JSON object. Told as one issue whatever is wrong in it: a record of {@link Json} would tell one for each key. */
export const JsonObject = z
  .record(z.string(), z.unknown())
  .refine((value) => isJson(value), { error: 'not a JSON value', abort: true }) as z.ZodType<Record<string, Json>>

/** An object's own member; `undefined` where it has none, or the value is no object. */
export function memberOf(value: Json | undefined, key: string): Json | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, key))
    return undefined
  return (value as Readonly<Record<string, Json>>)[key]
}
