/** A text's beginning, in at most so many bytes of UTF-8; no half of a character is left at its end. */
export function clipped(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text
  const cut = Buffer.from(text).subarray(0, bytes).toString()
  return cut.replace(/�+$/, '')
}
