/** What JSON text may hold at most. Whoever walks a value pays for each part of it, however few bytes that part has. */
export interface JsonBounds {
  /** Levels of arrays and objects within each other. */
  readonly depth: number
  /** Values of any kind, those within others included. Default: any number. */
  readonly values?: number
  /** Keys of one object. Default: any number. */
  readonly keys?: number
}

/** Values of one request, tool arguments that it holds as text included: more keep a process from everybody else. */
export const maxJsonValues = 100_000
/** Keys of one object of a request. */
export const maxJsonKeys = 10_000

/** What is too much of a text. */
export type JsonExcess = 'depth' | 'values' | 'keys'

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const backslash = 0x5c

/** Keys of the objects around a place, by their depth: one list for all texts, which are counted one at a time. */
const keys: number[] = []

/**
 * Counts JSON text in one pass, before anything is built from it: parsing millions of brackets takes seconds. Stops at the
 * first bound that is passed. Text that is no JSON may get any answer; parsing it says the rest.
 * @returns how many values there are (at most one too many for each empty array or object), and which bound is passed.
 */
export function measureJson(
  text: string,
  {
    depth: deepest,
    values: mostValues = Number.POSITIVE_INFINITY,
    keys: mostKeys = Number.POSITIVE_INFINITY,
  }: JsonBounds,
): { readonly values: number; readonly excess: JsonExcess | null } {
  // The first value has no comma before it; nor has the first of each array or object.
  let values = 1
  let depth = 0
  keys[0] = 0
  for (let i = 0; i < text.length; i += 1) {
    switch (text.charCodeAt(i)) {
      case quote:
        i = endOfString(text, i)
        break
      case comma:
        values += 1
        if (values > mostValues) return { values, excess: 'values' }
        break
      case colon: {
        const ofObject = (keys[depth] ?? 0) + 1
        keys[depth] = ofObject
        if (ofObject > mostKeys) return { values, excess: 'keys' }
        break
      }
      case 0x5b: // [
      case 0x7b: // {
        depth += 1
        values += 1
        keys[depth] = 0
        if (depth > deepest) return { values, excess: 'depth' }
        if (values > mostValues) return { values, excess: 'values' }
        break
      case 0x5d: // ]
      case 0x7d: // }
        depth = Math.max(0, depth - 1)
        break
    }
  }
  return { values, excess: null }
}

/** Where the string that begins at `start` has its closing quote; the text's end where it has none. */
function endOfString(text: string, start: number): number {
  const end = text.indexOf('"', start + 1)
  // Nearly all strings end at the next quote, and a search finds that ten times sooner than a look at each character.
  if (end === -1) return text.length
  if (text.charCodeAt(end - 1) !== backslash) return end
  for (let i = start + 1; i < text.length; i += 1) {
    const at = text.charCodeAt(i)
    if (at === quote) return i
    if (at === backslash) i += 1
  }
  return text.length
}
