import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

/** One row of a Markdown table, cells trimmed. */
type Row = readonly string[]

/** A Markdown table with a known head, where it stands in a document. */
interface Table {
  readonly before: string
  readonly rows: readonly Row[]
  readonly after: string
}

/** @throws Error when the document has no table with these headings. */
function findTable(document: string, headings: readonly string[]): Table {
  const head = `| ${headings.join(' | ')} |\n${'|---'.repeat(headings.length)}|\n`
  const at = document.indexOf(head)
  if (at === -1) throw new Error(`there is no table ${headings.join(' | ')}`)
  const begin = at + head.length
  const length = /^(?:\|.*\n)*/.exec(document.slice(begin))?.[0].length ?? 0
  const lines = document
    .slice(begin, begin + length)
    .split('\n')
    .slice(0, -1)
  const rows = lines.map((line) =>
    line
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim()),
  )
  return { before: document.slice(0, begin), rows, after: document.slice(begin + length) }
}

const written = ({ before, rows, after }: Table): string =>
  before + rows.map((row) => `| ${row.join(' | ')} |\n`).join('') + after

/**
 * The document with its table brought up to date: `truth` gives every row but its last cell, which people write and
 * which is kept by the first cell.
 */
export function refreshed(document: string, headings: readonly string[], truth: readonly Row[]): string {
  const table = findTable(document, headings)
  const meanings = new Map(table.rows.map((row) => [row[0], row.at(-1)]))
  return written({ ...table, rows: truth.map((row) => [...row, meanings.get(row[0]) ?? '']) })
}

/** First cells of the rows whose last cell is empty. */
export function unexplained(document: string, headings: readonly string[]): readonly string[] {
  return findTable(document, headings).rows.flatMap((row) => (row.at(-1) === '' ? [row[0] ?? ''] : []))
}

interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  /** Of what any name may stand for; `false` where no other name may stand. */
  readonly additionalProperties?: JsonSchema | boolean
  readonly items?: JsonSchema | boolean
  readonly prefixItems?: readonly JsonSchema[]
  readonly anyOf?: readonly JsonSchema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
}

/**
 * Key, type and default of everything that a configuration may hold.
 * @param elsewhere keys whose own keys another table lists.
 */
export function configurationRows(schema: z.ZodType, elsewhere: readonly string[] = []): readonly Row[] {
  return rowsOf(z.toJSONSchema(schema, { io: 'input' }) as JsonSchema, '', elsewhere)
}

function rowsOf({ properties = {} }: JsonSchema, prefix: string, elsewhere: readonly string[]): readonly Row[] {
  return Object.entries(properties).flatMap(([key, schema]) => {
    const name = `${prefix}${key}`
    const held = elsewhere.includes(name)
    if (schema.properties && !held) return rowsOf(schema, `${name}.`, elsewhere)
    const preset = schema.default === undefined ? 'none' : `\`${JSON.stringify(schema.default)}\``
    const row = [`\`${name}\``, typeOf(schema), preset]
    return held ? [row] : [row, ...rowsBelow(schema, name, elsewhere)]
  })
}

/** Keys below one that has a row of its own: of a list's items, of what goes by any name, of the form that is an object. */
function rowsBelow(
  { items, additionalProperties: named, anyOf = [] }: JsonSchema,
  name: string,
  elsewhere: readonly string[],
): readonly Row[] {
  if (typeof items === 'object') return rowsOf(items, `${name}[].`, elsewhere)
  if (typeof named === 'object') return rowsOf(named, `${name}.NAME.`, elsewhere)
  return anyOf.flatMap((form) => rowsOf(form, `${name}.`, elsewhere))
}

function typeOf(schema: JsonSchema): string {
  const { type } = schema
  if (typeof type === 'object') {
    return type.map((one) => (one === 'null' ? '`null`' : typeOf({ ...schema, type: one }))).join(' or ')
  }
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ')
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``
  if (schema.enum) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(', ')
  if (schema.prefixItems) return `list of ${schema.prefixItems.map(typeOf).join(' and ')}`
  if (type === 'array') return `list of ${typeof schema.items === 'object' ? typeOf(schema.items) : 'values'}`
  if (type === 'integer') return `whole number${boundsOf(schema)}`
  return `${type}${boundsOf(schema)}`
}

function boundsOf({ minimum, exclusiveMinimum, maximum }: JsonSchema): string {
  const bounds = [
    ...(minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? [] : [`≥ ${minimum}`]),
    ...(exclusiveMinimum === undefined ? [] : [`> ${exclusiveMinimum}`]),
    ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? [] : [`≤ ${maximum}`]),
  ]
  return bounds.length === 0 ? '' : ` ${bounds.join(', ')}`
}

/** Every error code that a source below `folder` spells, sorted. */
export function errorCodes(folder: string): readonly string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.endsWith('.conformance.ts'),
  )
  const codes = files.flatMap((file) => {
    const source = readFileSync(join(folder, file), 'utf8')
    const spelled = [...source.matchAll(/\bcode: '([a-z]+\/[a-z-]+)'/g)].map(([, code = '']) => code)
    // The gateway's own shorthand for a wrong request.
    const refused = [...source.matchAll(/\brefusal\(\s*'([a-z-]+)'/g)].map(([, code = '']) => `gateway/${code}`)
    // And the trainer server's.
    const wrong = [...source.matchAll(/\brequestError\(\s*'([a-z-]+)'/g)].map(([, code = '']) => `trainer/${code}`)
    return [...spelled, ...refused, ...wrong]
  })
  return [...new Set(codes)].toSorted((a, b) => (a < b ? -1 : 1))
}
