import { createHash } from 'node:crypto'
import { StringDecoder } from 'node:string_decoder'
import { canonicalJson } from './hash.ts'
import type { Json } from './json.ts'
import { turns } from './turns.ts'

/** Characters of a long text, or bytes, that are gone through at once: it takes a few milliseconds. */
export const partSize = 1024 * 1024

const anotherTurn = () => turns.next(Number.POSITIVE_INFINITY)

/** UTF-8 as text. Many bytes are decoded in parts, and others are served between them. */
export async function textInParts(bytes: Buffer): Promise<string> {
  if (bytes.length <= partSize) return bytes.toString('utf8')
  const decoder = new StringDecoder('utf8')
  let text = ''
  for (let at = 0; at < bytes.length; at += partSize) {
    text += decoder.write(bytes.subarray(at, at + partSize))
    await anotherTurn()
  }
  return text + decoder.end()
}

/** What `JSON.stringify` makes of plain data. Its long texts are written in parts, and others are served between them. */
export async function jsonInParts(value: unknown): Promise<string> {
  let text = ''
  for (const part of parts(piecesOf(value, JSON.stringify, Object.keys))) {
    text += part
    await anotherTurn()
  }
  return text
}

/**
 * SHA-256 of `before` and a value's canonical text, in hexadecimal. Its long texts are hashed in parts, and others are
 * served between them.
 */
export function canonicalHashInParts(before: string, value: Json): Promise<string> {
  const sortedKeys = (object: object) => Object.keys(object).sort()
  return hashed(
    before,
    piecesOf(value, (one) => canonicalJson(one as Json), sortedKeys),
  )
}

/** SHA-256 of what `JSON.stringify` makes of plain data, in hexadecimal: in parts, like {@link canonicalHashInParts}. */
export function jsonHashInParts(value: unknown): Promise<string> {
  return hashed('', piecesOf(value, JSON.stringify, Object.keys))
}

async function hashed(before: string, pieces: Iterable<string>): Promise<string> {
  const hash = createHash('sha256').update(before)
  for (const part of parts(pieces)) {
    hash.update(part)
    await anotherTurn()
  }
  return hash.digest('hex')
}

/** The same text in pieces of about {@link partSize}. */
function* parts(pieces: Iterable<string>): Generator<string> {
  let held = ''
  for (const piece of pieces) {
    held += piece
    if (held.length < partSize) continue
    yield held
    held = ''
  }
  if (held !== '') yield held
}

/** The JSON text of a value in pieces, none much longer than {@link partSize} because of one text. */
function* piecesOf(
  value: unknown,
  write: (value: unknown) => string | undefined,
  keysOf: (object: object) => readonly string[],
): Generator<string> {
  const holders = new Set<unknown>()
  findHolders(value, holders)
  yield* written(value)

  function* written(value: unknown): Generator<string> {
    if (isLong(value)) {
      yield '"'
      for (const part of cut(value)) yield JSON.stringify(part).slice(1, -1)
      yield '"'
    } else if (!holders.has(value)) {
      yield write(value) ?? 'null'
    } else if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i += 1) {
        yield i === 0 ? '[' : ','
        yield* written(value[i])
      }
      yield ']'
    } else {
      const object = value as Readonly<Record<string, unknown>>
      let open = '{'
      for (const key of keysOf(object)) {
        if (object[key] === undefined) continue
        yield `${open}${JSON.stringify(key)}:`
        yield* written(object[key])
        open = ','
      }
      yield '}'
    }
  }
}

const isLong = (value: unknown): value is string => typeof value === 'string' && value.length > partSize

/** Adds all lists and objects that hold a long text, however deep. */
function findHolders(value: unknown, holders: Set<unknown>): boolean {
  if (typeof value !== 'object' || value === null) return isLong(value)
  let holds = false
  if (Array.isArray(value)) {
    for (const item of value) if (findHolders(item, holders)) holds = true
  } else {
    for (const key in value) if (findHolders(value[key as keyof typeof value], holders)) holds = true
  }
  if (holds) holders.add(value)
  return holds
}

/** A character of two units stays whole. */
function* cut(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    let end = at + partSize
    if (/[\ud800-\udbff]/.test(text[end - 1] ?? '')) end += 1
    yield text.slice(at, end)
    at = end
  }
}
