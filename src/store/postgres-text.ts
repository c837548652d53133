/** A Unicode noncharacter, which is for internal use and stands in no one's text: begins what replaces another. */
const lead = '\uFDD0'

/**
 * PostgreSQL's text holds every character but NUL, which clients do send. It is written as two others, and read back as
 * it was: different texts stay different, and text without it (nearly all there is) stays as it is.
 */
export function encodeText(text: string): string {
  if (!text.includes('\0') && !text.includes(lead)) return text
  return text.replaceAll(lead, `${lead}1`).replaceAll('\0', `${lead}0`)
}

/** The text that {@link encodeText} made this of. */
export function decodeText(stored: string): string {
  if (!stored.includes(lead)) return stored
  return stored.replaceAll(`${lead}0`, '\0').replaceAll(`${lead}1`, lead)
}
