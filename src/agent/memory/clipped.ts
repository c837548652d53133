import { memoryBounds } from './item.ts'

/** A text's beginning, in at most so many bytes of UTF-8; no half of a character is left at its end. */
export function clipped(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text
  const cut = Buffer.from(text).subarray(0, bytes).toString()
  return cut.replace(/�+$/, '')
}

/** A text as a memory is asked it: its beginning, without blanks around. No more of it is read than is kept. */
export const memoryQuery = (text: string): string =>
  clipped(text.trimStart().slice(0, memoryBounds.cueBytes), memoryBounds.cueBytes).trimEnd()
