import { type Json, nearestName, type ToolDefinition } from '../../core/index.ts'
import { quoted } from './finding.ts'

type JsonObject = Readonly<Record<string, Json>>

/** Schemas nested deeper than this are not followed: their values pass. */
const maxDepth = 32

/**
 * What a tool's JSON Schema refuses in a call's arguments, in a few words, or `null`. Looks at `type`, `required`,
 * `properties`, `additionalProperties: false`, `items`, `enum`, `const` and `anyOf`; what else a schema asks for passes.
 */
export function argumentProblem(given: JsonObject, { parameters }: Pick<ToolDefinition, 'parameters'>): string | null {
  return problemOf(given, parameters, '', maxDepth)
}

function problemOf(value: Json | undefined, schema: Json | undefined, path: string, depth: number): string | null {
  if (!isObject(schema) || value === undefined || depth === 0) return null
  const where = path === '' ? 'the arguments' : quoted(path, 40)
  const { type, enum: options, const: only, anyOf } = schema
  const types = typeof type === 'string' ? [type] : Array.isArray(type) ? type : []
  if (types.length > 0 && !types.some((one) => isOf(value, one))) {
    return `${where} must be ${types.join(' or ')}, not ${typeName(value)}`
  }
  if (Array.isArray(options) && !options.some((option) => same(option, value))) return `${where} is none of its options`
  if (only !== undefined && !same(only, value)) return `${where} is not the one value that it may have`
  if (Array.isArray(anyOf) && anyOf.length > 0) {
    const problems = anyOf.map((option) => problemOf(value, option, path, depth - 1))
    if (problems.every((problem) => problem !== null)) return problems[0] ?? null
  }
  if (Array.isArray(value))
    return firstOf(value, (item, i) => problemOf(item, schema.items, `${path}[${i}]`, depth - 1))
  return isObject(value) ? keyProblem(value, schema, path, depth) : null
}

function keyProblem(value: JsonObject, schema: JsonObject, path: string, depth: number): string | null {
  const properties = isObject(schema.properties) ? schema.properties : {}
  const at = (key: string) => (path === '' ? key : `${path}.${key}`)
  const required = Array.isArray(schema.required) ? schema.required.filter((key) => typeof key === 'string') : []
  const missing = required.find((key) => !Object.hasOwn(value, key))
  if (missing !== undefined) return `${quoted(at(missing), 40)} is missing`
  return firstOf(Object.keys(value), (key) => {
    if (Object.hasOwn(properties, key)) return problemOf(value[key], properties[key], at(key), depth - 1)
    if (schema.additionalProperties !== false) return null
    const nearest = nearestName(key.slice(0, 64), Object.keys(properties))
    const meant = nearest === null ? '' : ` (did you mean ${quoted(nearest, 40)}?)`
    return `${quoted(at(key), 40)} is no parameter${meant}`
  })
}

function firstOf<T>(items: readonly T[], look: (item: T, i: number) => string | null): string | null {
  for (const [i, item] of items.entries()) {
    const problem = look(item, i)
    if (problem !== null) return problem
  }
  return null
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const same = (a: Json, b: Json): boolean => JSON.stringify(a) === JSON.stringify(b)

const typeName = (value: Json): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)

/** A type that JSON Schema does not know passes. */
function isOf(value: Json, type: Json): boolean {
  if (typeof type !== 'string') return true
  switch (type) {
    case 'integer':
      return Number.isInteger(value)
    case 'string':
    case 'number':
    case 'boolean':
    case 'object':
    case 'array':
    case 'null':
      return typeName(value) === type
    default:
      return true
  }
}
