import { visible } from '../../core/index.ts'

const characters = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** Text from outside as one line of at most `length` characters, with nothing in it that could move the cursor. */
export function said(text: string, length: number): string {
  // Cut first: what is cut away need not be read.
  const head = text.slice(0, length * 16)
  const line = visible(head.replaceAll(/\s*\n\s*/g, ' ⏎ ').replaceAll('\t', ' '))
  const cut = head.length < text.length
  // Finding characters costs much more than counting units: there are never fewer of these.
  if (line.length <= length) return cut ? `${line}…` : line
  if (/^[ -~]*$/.test(line)) return `${line.slice(0, length).trimEnd()}…`
  let shown = ''
  let count = 0
  for (const { segment } of characters.segment(line)) {
    if (count++ === length) return `${shown.trimEnd()}…`
    shown += segment
  }
  return cut ? `${shown}…` : shown
}
