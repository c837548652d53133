import type { Found } from './found.ts'

/** A text as somebody reads it, and where each of its characters stands in the text as it is written. */
export interface PlainView {
  readonly text: string
  /** What a place in the view is in the written text. */
  written(found: Found): Found
}

/** Worth looking at: characters beyond ASCII, and what may be an escape. */
// oxlint-disable-next-line no-control-regex
const notPlain = /[^\x00-\x7f]|%[\da-f]{2}|&[#a-z]|\\[ux]/i
/** One percent-encoded character, reference of HTML, escape of JavaScript or JSON, or character beyond ASCII. */
const piece =
  // oxlint-disable-next-line no-control-regex
  /(%[0-7][\da-f]|%[cd][\da-f]%[89ab][\da-f]|%e[\da-f](?:%[89ab][\da-f]){2}|%f[0-7](?:%[89ab][\da-f]){3})|&#(\d{1,7});|&#x([\da-f]{1,6});|&(commat|period|lowbar|hyphen|dash|colon|plus);|\\u([\da-f]{4})|\\u\{([\da-f]{1,6})\}|\\x([\da-f]{2})|[^\x00-\x7f]/giu
/** Characters that nobody sees: of format, of variation, fillers. */
const unseen = /^(?:\p{Cf}|\p{Variation_Selector}|\u034f|\u115f|\u1160|\u17b4|\u17b5|\u3164|\uffa0)$/u
const named: Readonly<Record<string, string>> = {
  commat: '@',
  period: '.',
  lowbar: '_',
  hyphen: '-',
  dash: '-',
  colon: ':',
  plus: '+',
}

/**
 * The text without what hides it from a rule: characters that nobody sees, other forms of a character (full-width,
 * mathematical), and percent-encoding, HTML's references and JavaScript's escapes, each taken off once.
 * @returns `null` where that is the text itself. Takes time in proportion to its length.
 */
export function plainView(text: string): PlainView | null {
  if (!notPlain.test(text)) return null
  const parts: string[] = []
  /** Where a part of the view that is not as it is written begins and ends, in both. */
  const changes: { readonly at: number; readonly end: number; readonly from: number; readonly to: number }[] = []
  let done = 0
  let length = 0
  for (const match of text.matchAll(piece)) {
    const [whole] = match
    const read = readOf(match)
    if (read === whole) continue
    const before = text.slice(done, match.index)
    parts.push(before, read)
    length += before.length
    const to = match.index + whole.length
    changes.push({ at: length, end: length + read.length, from: match.index, to })
    length += read.length
    done = to
  }
  if (changes.length === 0) return null
  const view = parts.join('') + text.slice(done)

  /** The last change that begins at or before a place in the view; -1 for none. */
  const changeBefore = (at: number): number => {
    let low = -1
    let high = changes.length - 1
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((changes[middle]?.at ?? 0) <= at) low = middle
      else high = middle - 1
    }
    return low
  }
  const place = (at: number, isEnd: boolean): number => {
    const change = changes[changeBefore(isEnd ? at - 1 : at)]
    if (change === undefined) return at
    if (at < change.end || (isEnd && at === change.end)) return isEnd ? change.to : change.from
    return change.to + (at - change.end)
  }
  return { text: view, written: ({ start, end }) => ({ start: place(start, false), end: place(end, true) }) }
}

function readOf([whole, percent, decimal, hex, name, unicode, braced, byte]: readonly string[]): string {
  if (percent !== undefined) return Buffer.from(percent.replaceAll('%', ''), 'hex').toString('utf8')
  if (name !== undefined) return named[name.toLowerCase()] ?? ''
  if (decimal !== undefined) return character(Number(decimal))
  const digits = hex ?? unicode ?? braced ?? byte
  const read = digits === undefined ? (whole ?? '') : character(Number.parseInt(digits, 16))
  if (unseen.test(read)) return ''
  return read.normalize('NFKC')
}

const character = (code: number): string => (code <= 0x10_ffff ? String.fromCodePoint(code) : '')
