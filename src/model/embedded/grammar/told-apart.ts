import type { Json, JsonSchema } from '../../../core/index.ts'
import { isObject, isOf, type Keywords, referenced } from './schema.ts'

/** Schemas in schemas that are looked into, and pairs of schemas that are compared in all. */
const [deepest, mostPairs] = [8, 20_000]

/**
 * Tells whether what is said for either of two schemas never fits the other: by their types, by listed values, or by a
 * property that one must have and the other cannot, or has with other values. What cannot be told so is not apart.
 */
export class Apart {
  readonly #root: JsonSchema
  #pairs = 0

  /** @param root the schema in which `$ref` names others. */
  constructor(root: JsonSchema) {
    this.#root = root
  }

  are(one: Json, other: Json): boolean {
    return this.#never(one, other, 0) && this.#never(other, one, 0)
  }

  /** Whether nothing that is said for a schema fits another. What is said of an object are its named properties only. */
  #never(said: Json | undefined, other: Json | undefined, depth: number): boolean {
    if (depth > deepest || this.#pairs++ > mostPairs || !isObject(said) || !isObject(other)) return false
    const never = (one: Json | undefined, another: Json | undefined) => this.#never(one, another, depth + 1)
    if ('$ref' in said) return never(referenced(said['$ref'], this.#root), other)
    if ('$ref' in other) return never(said, referenced(other['$ref'], this.#root))
    for (const keyword of ['anyOf', 'oneOf']) {
      const [ours, theirs] = [said[keyword], other[keyword]]
      if (Array.isArray(ours)) return ours.every((one: Json) => never(one, other))
      if (Array.isArray(theirs)) return theirs.every((one: Json) => never(said, one))
    }
    return neverByValues(said, other) ?? neverByProperties(said, other, never)
  }
}

/** By types and listed values; `null` where only an object's properties can tell. */
function neverByValues(said: Keywords, other: Keywords): boolean | null {
  const [ours, theirs] = [listed(said), listed(other)]
  const types = typesOf(other)
  if (ours !== null) {
    const misses = (value: Json) => types?.every((type) => !isOf(type, value)) === true
    return ours.every((value) => misses(value) || (theirs !== null && lacks(theirs, value)))
  }
  const saidTypes = typesOf(said) ?? (isOfProperties(said) ? ['object'] : null)
  if (saidTypes === null) return false
  if (theirs !== null) return theirs.every((value) => saidTypes.every((type) => !isOf(type, value)))
  if (types?.every((type) => saidTypes.every((one) => !overlap(type, one)))) return true
  return saidTypes.every((type) => type === 'object') ? null : false
}

function neverByProperties(
  said: Keywords,
  other: Keywords,
  never: (one: Json | undefined, another: Json | undefined) => boolean,
): boolean {
  const [ours, theirs] = [propertiesOf(said), propertiesOf(other)]
  const [required, wanted] = [namesIn(said), namesIn(other)]
  const closed = isOfProperties(said) || said['additionalProperties'] === false
  if (closed && wanted.some((name) => !Object.hasOwn(ours, name) && !required.includes(name))) return true
  if (other['additionalProperties'] === false && required.some((name) => !Object.hasOwn(theirs, name))) return true
  return [...required, ...wanted].some(
    (name) => Object.hasOwn(ours, name) && Object.hasOwn(theirs, name) && never(ours[name], theirs[name]),
  )
}

/** Whether an object is said with its named properties alone. */
const isOfProperties = (schema: Keywords): boolean =>
  Object.keys(propertiesOf(schema)).length > 0 || namesIn(schema).length > 0

const propertiesOf = ({ properties }: Keywords): Keywords => (isObject(properties) ? properties : {})

const namesIn = ({ required }: Keywords): readonly string[] =>
  Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []

function listed(schema: Keywords): readonly Json[] | null {
  if (schema['const'] !== undefined) return [schema['const']]
  return Array.isArray(schema['enum']) ? (schema['enum'] as readonly Json[]) : null
}

function typesOf({ type }: Keywords): readonly Json[] | null {
  if (type === undefined) return null
  return Array.isArray(type) ? (type as readonly Json[]) : [type]
}

/** Whether a value is not among others; lists and objects are not compared. */
const lacks = (values: readonly Json[], value: Json): boolean =>
  (typeof value !== 'object' || value === null) && !values.includes(value)

const overlap = (one: Json, other: Json): boolean =>
  one === other || [one, other].every((type) => type === 'number' || type === 'integer')
