import { counted, excess, textTokens, weigh } from './tokens.ts'
import { seen } from './visible.ts'

/** Marks alone were changed: quotes, dashes, emphasis, capitals. */
const marks = 0.02
/** The same was said in another order. */
const moved = 0.5
/** Characters that are compared where two texts begin to differ, and where they end to: many more than make an edit whole. */
const compared = 10_000
/** A word reaches so far back, at most, from where two texts begin to differ. */
const longestWord = 200

/**
 * How much of what an answer says was changed, from 0 to 1: the weight of the words and numbers that were added, or that
 * were taken out if these weigh more. One number is 0.75, a word up to that, and from 1 on an edit is whole; another order
 * is 0.5, marks alone are 0.02, white space is nothing. Only what changed counts, so what a person leaves as it is, however
 * long, makes no edit smaller.
 */
export function editExtent(said: string, edited: string): number {
  const [before, after] = whereTheyDiffer(said, edited)
  const [a, b] = [textTokens(before), textTokens(after)]
  const [had, has] = [counted(a), counted(b)]
  const changed = Math.max(excess(had, has), excess(has, had))
  if (changed > 0) return Math.min(1, changed)
  if (a.some((one, i) => one !== b[i])) return moved
  return inked(before) === inked(after) ? 0 : marks
}

/** The least share of the shorter text that an edit keeps. */
const leastKept = 0.3

/** Whether one text is another, edited, and not quite another text: it keeps some of what the shorter one says. */
export function isEditOf(said: string, edited: string): boolean {
  const [before, after] = whereTheyDiffer(said, edited)
  const shorter = Math.min(said.length, edited.length)
  if (shorter > 0 && (shorter - Math.min(before.length, after.length)) / shorter >= leastKept) return true
  const [a, b] = [textTokens(before), textTokens(after)]
  const least = Math.min(weigh(a), weigh(b))
  return least > 0 && (weigh(a) - excess(counted(a), counted(b))) / least >= leastKept
}

const inked = (text: string): string => seen(text).replaceAll(/\s+/gu, '')

/** Two texts without what both begin and end with, by whole words. */
function whereTheyDiffer(a: string, b: string): readonly [string, string] {
  const shorter = Math.min(a.length, b.length)
  let start = 0
  while (start < shorter && a.charCodeAt(start) === b.charCodeAt(start)) start += 1
  let end = 0
  while (end < shorter - start && a.charCodeAt(a.length - 1 - end) === b.charCodeAt(b.length - 1 - end)) end += 1
  for (let back = 0; start > 0 && back < longestWord && !isBlank(a, start - 1); back += 1) start -= 1
  for (let on = 0; end > 0 && on < longestWord && !isBlank(a, a.length - end); on += 1) end -= 1
  return [clipped(a.slice(start, a.length - end)), clipped(b.slice(start, b.length - end))]
}

const clipped = (text: string): string =>
  text.length <= 2 * compared ? text : `${text.slice(0, compared)}\n${text.slice(-compared)}`

const isBlank = (text: string, at: number): boolean => /\s/u.test(text.charAt(at))
