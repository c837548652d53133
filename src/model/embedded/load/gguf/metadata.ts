import { type GgufCursor, type NumberType, numberBytes } from './cursor.ts'
import { MalformedGgufError } from './malformed-gguf-error.ts'
import { quoted } from './quoted.ts'

/** A value of the file's metadata. Numbers of 64 bits that no double holds are refused; lists of numbers are packed. */
export type GgufValue = string | number | boolean | readonly string[] | Float64Array

/** A file's metadata by key, for example `general.architecture`. */
export type GgufMetadata = ReadonlyMap<string, GgufValue>

/** More entries than any file has. */
const maxEntries = 10_000
/** The largest vocabularies have some 260,000 tokens, and twice as many merges. */
const maxElements = 4_000_000

const numberTypes: ReadonlyMap<number, NumberType> = new Map([
  [0, 'u8'],
  [1, 'i8'],
  [2, 'u16'],
  [3, 'i16'],
  [4, 'u32'],
  [5, 'i32'],
  [6, 'f32'],
  [10, 'u64'],
  [11, 'i64'],
  [12, 'f64'],
])
const booleanType = 7
const textType = 8
const listType = 9
/** Of a text: its length alone. */
const minTextBytes = 8

/** @throws MalformedGgufError naming the key. */
export function readMetadata(cursor: GgufCursor, entries: number): Map<string, GgufValue> {
  if (entries > maxEntries)
    throw new MalformedGgufError(`it claims ${entries} entries of metadata, and at most ${maxEntries} are allowed`)
  const metadata = new Map<string, GgufValue>()
  for (let entry = 0; entry < entries; entry++) {
    const key = cursor.text(`key ${entry + 1} of the metadata`)
    if (metadata.has(key)) throw new MalformedGgufError(`its metadata hold ${quoted(key)} twice`)
    const what = `the value of ${quoted(key)}`
    metadata.set(key, readValue(cursor, cursor.number('u32', `the type of ${quoted(key)}`), what))
  }
  return metadata
}

function readValue(cursor: GgufCursor, type: number, what: string): GgufValue {
  const number = numberTypes.get(type)
  if (number !== undefined) return cursor.number(number, what)
  if (type === booleanType) return cursor.number('u8', what) !== 0
  if (type === textType) return cursor.text(what)
  if (type === listType) return readList(cursor, what)
  throw new MalformedGgufError(`${what} is of type ${type}, which the format does not have`)
}

function readList(cursor: GgufCursor, what: string): GgufValue {
  const type = cursor.number('u32', `the element type of ${what}`)
  const length = cursor.count(`the length of ${what}`, maxElements)
  const number = type === booleanType ? 'u8' : numberTypes.get(type)
  if (number === undefined && type !== textType)
    throw new MalformedGgufError(`${what} is a list of type ${type}, and only lists of texts and numbers are known`)
  const least = number === undefined ? minTextBytes : numberBytes[number]
  if (length * least > cursor.left)
    throw new MalformedGgufError(`${what} claims ${length} elements, and ${cursor.left} bytes are left`)
  if (number === undefined) return Array.from({ length }, (_, i) => cursor.text(`element ${i} of ${what}`))
  const list = new Float64Array(length)
  for (let i = 0; i < length; i++) list[i] = cursor.number(number, what)
  return list
}
