import type { Message } from '../../core/index.ts'

/**
 * What is left of a tool's result in the context, from all to nothing: the result, its head and tail, one line that says how to
 * read it again; `dropped`: neither the result nor the call that it answers.
 */
export const formOrder = ['whole', 'excerpt', 'stub', 'dropped'] as const
export type Form = (typeof formOrder)[number]

/** What may be decided of one result: turns are dropped only where nothing else is enough. */
export const keepOptions = ['whole', 'excerpt', 'stub'] as const satisfies readonly Form[]
export type KeepOption = (typeof keepOptions)[number]

/** Whether a form leaves less than another. */
export const isLess = (form: Form, than: Form): boolean => formOrder.indexOf(form) > formOrder.indexOf(than)

/** A tool's result. */
export type ToolMessage = Extract<Message, { role: 'tool' }>

/** How what is left out is spoken of. */
export interface Folding {
  /** Characters that an excerpt keeps of a result. */
  readonly excerpt: number
  /** The tool by which it can be read again; `null` where there is none. */
  readonly readBack: string | null
}

/** Of an excerpt's characters, those that stand at its head. */
const headShare = 2 / 3

/**
 * A result in a form, still the answer to its call. What would be no shorter stays whole. Its parts other than text (images,
 * files) go with the first fold.
 */
export function folded(result: ToolMessage, id: string, form: Form, { excerpt, readBack }: Folding): ToolMessage {
  if (form === 'whole') return result
  const { content, parts: _, ...rest } = result
  const left = (kept: number) => `${content.length - kept} characters of ${id} left out${again(id, readBack)}`
  const head = content.slice(0, headEnd(content, Math.ceil(excerpt * headShare)))
  const tail = content.slice(tailBegin(content, content.length - Math.floor(excerpt * (1 - headShare))))
  const short = form === 'excerpt' ? `${head}\n[… ${left(head.length + tail.length)} …]\n${tail}` : `[${left(0)}]`
  return short.length < content.length ? { ...rest, content: short } : result
}

/** What is said of turns that are left out. */
export function leftOut(ids: readonly string[], { readBack }: Pick<Folding, 'readBack'>): string {
  const ranges = rangesOf(ids)
  const named = ranges.slice(0, mostRanges).join(', ')
  const more = ranges.length > mostRanges ? ' and others' : ''
  return `[Left out: turns with the results ${named}${more}${readBack === null ? '' : `; ${readBack} shows one by its name`}]`
}

/** Ranges that are named one by one. */
const mostRanges = 8

const again = (id: string, readBack: string | null) => (readBack === null ? '' : `; ${readBack} ${id} shows them`)

/** Where a head of about so many characters ends: after a line or a word where one ends near, and within no character. */
function headEnd(text: string, about: number): number {
  const from = Math.floor(about / 2)
  const near = text.slice(from, about)
  const at = Math.max(near.lastIndexOf('\n'), near.lastIndexOf(' '))
  if (at >= 0) return from + at
  return isLow(text, about) ? about - 1 : about
}

/** Where a tail of about so many characters begins. */
function tailBegin(text: string, about: number): number {
  const near = text.slice(about, about + Math.floor((text.length - about) / 2))
  const at = [near.indexOf('\n'), near.indexOf(' ')].filter((found) => found >= 0)
  if (at.length > 0) return about + Math.min(...at) + 1
  return isLow(text, about) ? about + 1 : about
}

/** Whether the second half of a character stands here. */
const isLow = (text: string, at: number) => /^[\udc00-\udfff]$/.test(text[at] ?? '')

/** `r1`, `r2`, `r3`, `r7` as `r1 to r3`, `r7`. */
function rangesOf(ids: readonly string[]): readonly string[] {
  const ranges: { first: number; last: number }[] = []
  for (const id of ids) {
    const number = Number(id.slice(1))
    const range = ranges.at(-1)
    if (range && range.last === number - 1) range.last = number
    else ranges.push({ first: number, last: number })
  }
  return ranges.map(({ first, last }) => (first === last ? `r${first}` : `r${first} to r${last}`))
}
