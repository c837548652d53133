import type { Json } from '../../core/index.ts'
import { atPath, type Between, between } from './expression.ts'

/** Values of one answer that are looked at. */
const mostLooks = 2_000
/** Characters on either side of a text by which it is found again. */
const mostBefore = 32
const mostAfter = 12

/** One path at which every answer holds its value, as JSON; `null` where there is none. */
export function commonPath(
  answers: readonly string[],
  values: readonly Json[],
): { readonly path: readonly (string | number)[]; readonly asText: boolean } | null {
  const parsed = answers.map(parsedJson)
  const [first, value] = [parsed[0], values[0]]
  if (typeof first !== 'object' || first === null || !isScalar(value)) return null
  for (const path of pathsTo(first, value)) {
    const found = parsed.map((answer) => atPath(answer, path))
    if (found.every((one, i) => one === values[i])) return { path, asText: false }
    if (found.every((one, i) => typeof one === 'number' && String(one) === values[i])) return { path, asText: true }
  }
  return null
}

const isScalar = (value: unknown): value is string | number | boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Where a value holds another, the shallowest first. */
function* pathsTo(root: unknown, wanted: string | number | boolean): Generator<readonly (string | number)[]> {
  const queue: { readonly at: unknown; readonly path: readonly (string | number)[] }[] = [{ at: root, path: [] }]
  for (let looks = 0; looks < mostLooks; looks++) {
    const next = queue.shift()
    if (!next) return
    const { at, path } = next
    if (isScalar(at) && path.length > 0 && String(at) === String(wanted)) yield path
    if (typeof at !== 'object' || at === null) continue
    if (Array.isArray(at)) for (const [i, inner] of at.entries()) queue.push({ at: inner, path: [...path, i] })
    else
      for (const [key, inner] of Object.entries(at))
        if (key !== '__proto__') queue.push({ at: inner, path: [...path, key] })
  }
}

/** What stands before and after every value in its text, so that it is found by that; `null` where nothing does. */
export function commonBetween(texts: readonly string[], values: readonly Json[]): Omit<Between, 'from'> | null {
  const words = values.filter((value) => typeof value === 'string' && value !== '') as string[]
  if (words.length < values.length) return null
  for (const which of [0, 1, 'last'] as const) {
    const places = texts.map((text, i) => placeOf(text, words[i] ?? '', which))
    if (places.some((place) => place < 0)) continue
    const before = commonEnd(texts.map((text, i) => text.slice(Math.max(0, (places[i] ?? 0) - mostBefore), places[i])))
    if (before === '' && places.some((place) => place > 0)) continue
    const rests = texts.map((text, i) => text.slice((places[i] ?? 0) + (words[i]?.length ?? 0)))
    for (const after of afters(rests)) {
      if (texts.every((text, i) => between(text, { before, after }) === words[i])) return { before, after }
    }
  }
  return null
}

function placeOf(text: string, word: string, which: 0 | 1 | 'last'): number {
  if (which === 'last') return text.lastIndexOf(word)
  const first = text.indexOf(word)
  return which === 0 || first < 0 ? first : text.indexOf(word, first + 1)
}

/** What may end a value: what always follows it, from a character on; or the text's end. */
function afters(rests: readonly string[]): readonly string[] {
  const common = commonStart(rests.map((rest) => rest.slice(0, mostAfter)))
  return [...Array.from({ length: common.length }, (_, i) => common.slice(0, i + 1)), '']
}

/** What all begin with. */
export function commonStart(texts: readonly string[]): string {
  const [first = ''] = texts
  let length = first.length
  for (const text of texts) while (!text.startsWith(first.slice(0, length))) length--
  return first.slice(0, length)
}

/** What all end with. */
export function commonEnd(texts: readonly string[]): string {
  const [first = ''] = texts
  let from = 0
  for (const text of texts) while (!text.endsWith(first.slice(from))) from++
  return first.slice(from)
}
