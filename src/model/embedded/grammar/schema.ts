import type { Json, JsonSchema } from '../../../core/index.ts'

/** A schema that is no boolean. */
export type Keywords = { readonly [keyword: string]: Json }

export const isObject = (value: Json | undefined): value is Keywords =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether a value is of a type of JSON Schema. */
export function isOf(type: Json | undefined, value: Json): boolean {
  if (value === null) return type === 'null'
  if (Array.isArray(value)) return type === 'array'
  if (typeof value === 'number') return type === 'number' || (type === 'integer' && Number.isInteger(value))
  return typeof value === type
}

/** The schema that `#`, `#/$defs/NAME` or `#/definitions/NAME` names; `undefined` where none is, or it is said otherwise. */
export function referenced(reference: Json | undefined, root: JsonSchema): Json | undefined {
  if (reference === '#') return root
  const [, container = '', name = ''] =
    (typeof reference === 'string' && /^#\/(\$defs|definitions)\/([^/~%]+)$/.exec(reference)) || []
  const named = isObject(root) ? root[container] : undefined
  return isObject(named) && Object.hasOwn(named, name) ? named[name] : undefined
}
