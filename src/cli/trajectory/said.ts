import { visible } from '../visible.ts'

/** Text from outside as one line of at most `length` characters, with nothing in it that could move the cursor. */
export function said(text: string, length: number): string {
  // Cut first: what is cut away need not be read.
  const head = text.slice(0, length * 4)
  const characters = [...visible(head.replaceAll(/\s*\n\s*/g, ' ⏎ ').replaceAll('\t', ' '))]
  return characters.length > length || head.length < text.length
    ? `${characters.slice(0, length).join('').trimEnd()}…`
    : characters.join('')
}
