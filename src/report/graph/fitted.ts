import { escape } from '../html.ts'

const characters = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
const wide =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}\u3000-\u303f\uff00-\uff60]/u

/** One line of text in at most so many columns of a fixed-width font; characters of double width take two. */
export function fitted(text: string, columns: number): string {
  // Cut first: what is cut away need not be read.
  const head = text
    .slice(0, columns * 16)
    .replaceAll(/\s*\n\s*/g, ' ⏎ ')
    .replaceAll(/\s+/g, ' ')
    .trim()
  let shown = ''
  let taken = 0
  for (const { segment } of characters.segment(head)) {
    const width = wide.test(segment) ? 2 : 1
    if (taken + width > columns) return `${dropLast(shown)}…`
    shown += segment
    taken += width
  }
  return shown
}

const dropLast = (text: string) =>
  [...characters.segment(text)]
    .slice(0, -1)
    .map(({ segment }) => segment)
    .join('')

/** Text as XML may hold it: what is no XML character, or turns the direction of what follows, is replaced. */
export function xml(text: string): string {
  return escape(text.replaceAll(/[\u2028-\u202e\u2066-\u2069\ufffe\uffff]/g, '\ufffd'))
}
