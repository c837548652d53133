import type { Json, JsonSchema } from '../../../core/index.ts'
import * as values from './json-values.ts'
import { integersIn, numbersIn } from './number-range.ts'
import { either, literal, type Rules } from './rules.ts'
import { isObject, isOf, type Keywords, referenced } from './schema.ts'
import { stringFormat } from './string-formats.ts'
import { Apart } from './told-apart.ts'
import { UnusableGrammarError } from './unusable-grammar-error.ts'

/** Keywords that accept and refuse nothing. */
const annotations = new Set(
  `title description default example examples deprecated readOnly writeOnly $schema $id $comment $defs definitions discriminator`.split(
    ' ',
  ),
)

/** The keywords that say something about values of one type. A type that is not named is told by them. */
const keywordsOf: Readonly<Record<string, readonly string[]>> = {
  object: ['properties', 'required', 'additionalProperties', 'propertyNames'],
  array: ['items', 'minItems', 'maxItems', 'uniqueItems'],
  string: ['minLength', 'maxLength', 'format'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
  integer: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
  boolean: [],
  null: [],
}

/** Schemas in schemas: as deep as JSON texts from outside may be. */
const deepest = 64
/** Schemas of which one may fit: each is compared with each. */
const mostOfOneOf = 64
/** Longest array and string that a bound may name: each character of a string is a state of its own. */
const [longestArray, longestString] = [4_096, 1_024]

const hint =
  'Use type, properties, required, items, enum, const, anyOf, oneOf, $ref to $defs, and bounds of numbers, strings and arrays; check the rest in what comes.'

/**
 * The JSON texts of values that a schema accepts, as rules. What a schema accepts is never widened: a keyword that the
 * rules could not hold is refused. It is narrowed where that costs little: an object that names properties holds no others.
 * @throws UnusableGrammarError which names the place in the schema.
 */
export function jsonSchema(rules: Rules, schema: JsonSchema): string {
  return new Reader(rules, schema).read(schema, '#', 0)
}

class Reader {
  readonly #rules: Rules
  readonly #root: JsonSchema
  readonly #apart: Apart
  /** Rules of what `$ref` names, so that a schema may name itself. */
  readonly #named = new Map<string, string>()

  constructor(rules: Rules, root: JsonSchema) {
    this.#rules = rules
    this.#root = root
    this.#apart = new Apart(root)
  }

  read(schema: Json | undefined, at: string, depth: number): string {
    if (depth > deepest) throw refuse(at, `is deeper than ${deepest} schemas in schemas`)
    if (schema === true) return values.anything(this.#rules)
    if (!isObject(schema)) throw refuse(at, schema === false ? 'accepts nothing' : 'is no schema')
    const says = Object.keys(schema).filter((keyword) => !annotations.has(keyword))
    const [only] = says
    if (only === undefined) return values.anything(this.#rules)
    if (says.includes('enum') || says.includes('const')) return this.#enumeration(schema, says, at)
    if (only === '$ref' && says.length === 1) return this.#reference(schema['$ref'], at, depth)
    if (['anyOf', 'oneOf', 'allOf'].includes(only) && says.length === 1)
      return this.#several(schema[only], only, at, depth)
    const types = typesOf(schema, says, at)
    for (const keyword of says) {
      if (keyword === 'type' || types.some((type) => keywordsOf[type]?.includes(keyword))) continue
      throw refuse(`${at}/${keyword}`, 'is a keyword to which no answer can be held here')
    }
    return this.#rules.add(either(types.map((type) => this.#ofType(type, schema, at, depth))))
  }

  #ofType(type: string, schema: Keywords, at: string, depth: number): string {
    switch (type) {
      case 'object':
        return this.#object(schema, at, depth)
      case 'array':
        return this.#array(schema, at, depth)
      case 'string':
        return this.#string(schema, at)
      case 'number':
      case 'integer':
        return this.#number(type, schema, at)
      case 'boolean':
        return '"true" | "false"'
      default:
        return '"null"'
    }
  }

  #object(schema: Keywords, at: string, depth: number): string {
    const { properties = {}, required = [], additionalProperties: others = true } = schema
    if (!isObject(properties)) throw refuse(`${at}/properties`, 'is no object')
    // As zod says it of every record: names are strings.
    if (JSON.stringify(schema['propertyNames'] ?? { type: 'string' }) !== '{"type":"string"}')
      throw refuse(`${at}/propertyNames`, 'says more than that names are strings')
    if (!Array.isArray(required) || !required.every((name) => typeof name === 'string'))
      throw refuse(`${at}/required`, 'is no list of names')
    // What reads a request drops a property of this name: its schema would not be held to.
    if (required.includes('__proto__')) throw refuse(`${at}/required`, 'names "__proto__", which cannot be held')
    const unnamed = (required as readonly string[]).filter((name) => !Object.hasOwn(properties, name))
    if (others === false && unnamed.length > 0)
      throw refuse(`${at}/required`, `names ${JSON.stringify(unnamed[0])}, which additionalProperties rules out`)
    const other = `${at}/additionalProperties`
    const entries = [
      ...Object.entries(properties).map(([key, value]) => ({
        key,
        value: this.read(value, `${at}/properties/${key}`, depth + 1),
        required: required.includes(key),
      })),
      ...[...new Set(unnamed)].map((key) => ({ key, value: this.read(others, other, depth + 1), required: true })),
    ]
    // A key that comes twice would take the later value: beside named properties there are no others.
    const named = schema['properties'] !== undefined && schema['additionalProperties'] === undefined
    if (entries.length > 0 || named || others === false) return values.properties(this.#rules, entries)
    return values.record(this.#rules, this.read(others, other, depth + 1))
  }

  #array(schema: Keywords, at: string, depth: number): string {
    if ((schema['uniqueItems'] ?? false) !== false) throw refuse(`${at}/uniqueItems`, 'cannot be held')
    const [least, most] = lengths(schema, 'minItems', 'maxItems', longestArray, at)
    const { items = true } = schema
    if (items === false) {
      if (least > 0) throw refuse(`${at}/items`, 'rules out what minItems wants')
      return values.array(this.#rules, '""', 0, 0)
    }
    return values.array(this.#rules, this.read(items, `${at}/items`, depth + 1), least, most)
  }

  #string(schema: Keywords, at: string): string {
    const [least, most] = lengths(schema, 'minLength', 'maxLength', longestString, at)
    const bounded = least > 0 || most < Number.POSITIVE_INFINITY
    const { format } = schema
    if (format !== undefined) {
      const form = typeof format === 'string' ? stringFormat(format) : null
      if (form === null || bounded)
        throw refuse(`${at}/format`, `cannot be held${bounded ? ' together with a length' : ''}`)
      return `"\\"" ${this.#rules.once(`format ${format as string}`, () => form)} "\\""`
    }
    return values.string(this.#rules, least, most)
  }

  #number(type: 'number' | 'integer', schema: Keywords, at: string): string {
    const bounds = (keywordsOf[type] ?? []).filter((keyword) => schema[keyword] !== undefined)
    for (const keyword of bounds)
      if (typeof schema[keyword] !== 'number') throw refuse(`${at}/${keyword}`, 'is no number')
    if (bounds.length === 0) return type === 'integer' ? values.integer(this.#rules) : values.number(this.#rules)
    const bound = (keyword: string, none: number) => Number(schema[keyword] ?? none)
    const [low, openLow] = [
      bound('minimum', Number.NEGATIVE_INFINITY),
      bound('exclusiveMinimum', Number.NEGATIVE_INFINITY),
    ]
    const [high, openHigh] = [
      bound('maximum', Number.POSITIVE_INFINITY),
      bound('exclusiveMaximum', Number.POSITIVE_INFINITY),
    ]
    const range = {
      least: Math.max(low, openLow),
      most: Math.min(high, openHigh),
      leastOpen: openLow >= low,
      mostOpen: openHigh <= high,
    }
    const forms = type === 'integer' ? integersIn(range) : numbersIn(range)
    if (forms === null)
      throw refuse(at, 'leaves no number that can be said: an integer, or what lies between two that fit')
    return forms
  }

  #enumeration(schema: Keywords, says: readonly string[], at: string): string {
    const { enum: all, const: one } = schema
    const other = says.find((keyword) => !['enum', 'const', 'type'].includes(keyword))
    if (other !== undefined) throw refuse(`${at}/${other}`, 'cannot be held together with enum or const')
    if (all !== undefined && one !== undefined) throw refuse(at, 'has both enum and const')
    if (all !== undefined && !Array.isArray(all)) throw refuse(`${at}/enum`, 'is no list')
    const listed = all === undefined ? [one as Json] : (all as readonly Json[])
    const types = schema['type'] === undefined ? null : typesOf(schema, says, at)
    const fitting = listed.filter((value) => types === null || types.some((type) => isOf(type, value)))
    if (fitting.length === 0) throw refuse(at, 'accepts nothing')
    return this.#rules.add(either(fitting.map((value) => literal(JSON.stringify(value)))))
  }

  #several(all: Json | undefined, keyword: string, at: string, depth: number): string {
    if (!Array.isArray(all) || all.length === 0) throw refuse(`${at}/${keyword}`, 'is no list of schemas')
    if (keyword === 'allOf' && all.length > 1) throw refuse(`${at}/allOf`, 'holds several schemas')
    if (keyword === 'oneOf') this.#refuseAlike(all as readonly Json[], at)
    return this.#rules.add(either(all.map((one: Json, i) => this.read(one, `${at}/${keyword}/${i}`, depth + 1))))
  }

  /** What fits one of them must fit no other. */
  #refuseAlike(all: readonly Json[], at: string): void {
    if (all.length > mostOfOneOf) throw refuse(`${at}/oneOf`, `holds more than ${mostOfOneOf} schemas`)
    for (const [i, one] of all.entries()) {
      const alike = all.findIndex((other, j) => j > i && !this.#apart.are(one, other))
      if (alike < 0) continue
      const how = 'by type, const, enum or required properties. Tell them apart, or use anyOf'
      throw refuse(`${at}/oneOf`, `holds ${i} and ${alike}, which are not told apart ${how}`)
    }
  }

  #reference(reference: Json | undefined, at: string, depth: number): string {
    const target = referenced(reference, this.#root)
    if (typeof reference !== 'string' || target === undefined)
      throw refuse(`${at}/$ref`, `names no schema in $defs (${JSON.stringify(reference)}): others are not looked up`)
    const known = this.#named.get(reference)
    if (known !== undefined) return known
    const rule = this.#rules.reserve()
    this.#named.set(reference, rule)
    this.#rules.define(rule, this.read(target, reference, depth + 1))
    return rule
  }
}

function refuse(at: string, problem: string): UnusableGrammarError {
  const place = at.length > 200 ? `${at.slice(0, 200)}…` : at
  return new UnusableGrammarError(`its schema's ${place} ${problem}.`, hint)
}

function typesOf(schema: Keywords, says: readonly string[], at: string): readonly string[] {
  const { type } = schema
  if (type === undefined) {
    const told = Object.keys(keywordsOf).filter((one) => says.every((keyword) => keywordsOf[one]?.includes(keyword)))
    const [first] = told
    if (first !== undefined) return [first]
    const strange = says.find((keyword) => !Object.values(keywordsOf).flat().includes(keyword))
    throw refuse(strange === undefined ? at : `${at}/${strange}`, 'cannot be held, or not beside the others')
  }
  const types = [...new Set<Json>(Array.isArray(type) ? (type as readonly Json[]) : [type])]
  if (types.length > 0 && types.every((one) => typeof one === 'string' && Object.hasOwn(keywordsOf, one)))
    return types as string[]
  throw refuse(`${at}/type`, 'is no type of JSON')
}

function lengths(
  schema: Keywords,
  leastName: string,
  mostName: string,
  longest: number,
  at: string,
): readonly [number, number] {
  const bound = (name: string, none: number) => {
    const value = schema[name] ?? none
    if (value === none) return none
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= longest) return value
    throw refuse(`${at}/${name}`, `is no length of at most ${longest}`)
  }
  const [least, most] = [bound(leastName, 0), bound(mostName, Number.POSITIVE_INFINITY)]
  if (least > most) throw refuse(`${at}/${leastName}`, `is above ${mostName}`)
  return [least, most]
}
