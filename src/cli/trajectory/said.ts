import { visible } from '../visible.ts'

const characters = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** Text from outside as one line of at most `length` characters, with nothing in it that could move the cursor. */
export function said(text: string, length: number): string {
  // Cut first: what is cut away need not be read.
  const head = text.slice(0, length * 16)
  const line = visible(head.replaceAll(/\s*\n\s*/g, ' ⏎ ').replaceAll('\t', ' '))
  let shown = ''
  let count = 0
  for (const { segment } of characters.segment(line)) {
    if (count++ === length) return `${shown.trimEnd()}…`
    shown += segment
  }
  return head.length < text.length ? `${shown}…` : shown
}
