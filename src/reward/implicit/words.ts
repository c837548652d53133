import { distance } from 'fastest-levenshtein'

/** Longer texts are compared by their beginnings: a person's reaction stands there, and the cost stays bounded. */
const compared = 2_000

/** A reaction is short; a long message that contains such words is about something else. */
const reaction = 240

const thankful =
  /\b(?:thanks|thank you|thx|cheers|perfect|great job|well done|that (?:worked|works|helps|helped)|exactly what i|awesome|merci|danke|gracias|obrigad[oa]|grazie)\b|谢谢|ありがとう/iu
const notThankful =
  /\b(?:no,? thanks|thanks for nothing|(?:thanks|thank you|danke|merci|gracias),? (?:but|aber|mais|pero)|not (?:perfect|great|helpful|exactly))\b/iu
/** Begins like a refusal, and is none. */
const content =
  /^(?:no|nope)\b[,.!]? *(?:problem|worries|rush|need|thank|further|more|other|all good|(?:that|it)(?:(?:'|’)?s| is| was) (?:all|it|fine|good|great|perfect|ok))/iu

const corrective =
  /^(?:no|nope|wrong)\b|\b(?:that(?:'|’)?s|that is|this is|it(?:'|’)?s|it is) (?:wrong|incorrect|not (?:right|correct|what i|true))|\bnot (?:exactly )?what i (?:asked|meant|wanted)|\bi (?:meant|said|asked for)\b|\b(?:doesn(?:'|’)?t|does not|didn(?:'|’)?t|did not|won(?:'|’)?t) work\b|\bstill (?:fails|broken|wrong|not)\b|\btry again\b|\b(?:please|can you|could you) (?:fix|change|correct|redo|undo)\b|\byou (?:forgot|missed|misunderstood|made a mistake)\b|\bactually,? (?:i|it|the|no)\b/iu

/** Whether a user's message thanks or praises, in some words that are common for it. */
export function thanks(text: string): boolean {
  return text.length <= reaction && thankful.test(text) && !notThankful.test(text) && !asksForChange(text)
}

/** Whether a user's message says that the answer is wrong or asks to change it. English only. */
export function asksForChange(text: string): boolean {
  return text.length <= reaction && corrective.test(text.replace(content, '').trim())
}

/** Share of two texts that differs, from 0 (equal) to 1: edit distance over the longer one's length. */
function difference(a: string, b: string): number {
  const [left, right] = [a.slice(0, compared), b.slice(0, compared)]
  const longer = Math.max(left.length, right.length)
  return longer === 0 ? 0 : distance(left, right) / longer
}

/** Whether one message puts the same question as another, in the same words or in similar ones. */
export function asksAgain(earlier: string, later: string): boolean {
  const [a, b] = [normal(earlier), normal(later)]
  if (a.length < 8 || b.length < 8) return false
  return difference(a, b) < 0.4 || sharedWords(a, b) >= 0.6
}

/** Whether somebody who comes back asks the same again, about the same numbers: another order or date is another question. */
export function asksTheSame(earlier: string, later: string): boolean {
  return numbersIn(normal(earlier)) === numbersIn(normal(later)) && asksAgain(earlier, later)
}

function numbersIn(text: string): string {
  return text
    .split(' ')
    .filter((word) => /\p{N}/u.test(word))
    .toSorted()
    .join(' ')
}

function normal(text: string): string {
  return text
    .slice(0, compared)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

/** Jaccard similarity of the words of four letters and more; 0 where there are too few to say. */
function sharedWords(a: string, b: string): number {
  const [left, right] = [wordsOf(a), wordsOf(b)]
  if (left.size < 3 || right.size < 3) return 0
  let shared = 0
  for (const word of left) if (right.has(word)) shared++
  return shared / (left.size + right.size - shared)
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.split(' ').filter((word) => word.length >= 4))
}

/** How the text of a failure begins. A guess: a page about errors may begin so, too. */
const failing =
  /^(?:error|exception|traceback|fatal|failed|failure|(?:permission|access) denied|unauthori[sz]ed|forbidden|(?:internal )?server error|bad (?:request|gateway)|not found|command not found|timed? ?out|request timed out|unable to|could ?n[o']t|can(?:no|')t|exit (?:code|status):? [1-9]|(?:http )?(?:status )?[45]\d\d(?: |: ?)(?:error|bad|unauthori[sz]ed|forbidden|not found|too many|internal|service))\b|^[\w.]{0,60}(?:Error|Exception)\b ?[:(]/iu

/** Whether a tool's result tells of a failure: by its own flag, by what its JSON says of it, or by how it begins. */
export function reportsError(text: string): boolean {
  const start = text.slice(0, compared).trimStart()
  if (failing.test(start)) return true
  if (!start.startsWith('{') || text.length > 100_000) return false
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null) return false
    const { error, errors, isError, is_error, success, ok, status } = value as Readonly<Record<string, unknown>>
    if (error || isError === true || is_error === true || success === false || ok === false) return true
    if (Array.isArray(errors) && errors.length > 0) return true
    return typeof status === 'number'
      ? status >= 400 && status < 600
      : /^(?:error|failed|failure)$/i.test(String(status))
  } catch {
    return false
  }
}
