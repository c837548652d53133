import type { Redacted } from './redacted.ts'

/** Up to its payload; each part of it is bounded, so that no text takes time in the square of its length. */
const head = /data:[\w.+-]{0,127}(?:\/[\w.+-]{1,127})?(?:;[\w.+=-]{1,127}){0,8};base64,/.source
const wholeDataUrl = new RegExp(`^${head}`, 'i')
const dataUrls = new RegExp(`(${head})([A-Za-z0-9+/_=-]+)`, 'gi')
const notBase64 = /[^\w+/=\r\n-]/
/** Shorter texts than that are words. */
const base64 = /^[A-Za-z0-9+/_-]{14,}={0,2}$/
/** As long as no word is. */
const longBase64 = /^[A-Za-z0-9+/]{512,}={0,2}$/
// oxlint-disable-next-line no-control-regex
const control = /[\x00-\x08\x0b\x0e-\x1f\x7f]/
/** Bytes that are looked at first: a picture is none of text from its beginning. */
const firstBytes = 512

/** Whether a text is bytes in text form (a data URL, or base64 that is longer than any word), which rules are not about. */
export function isBytes(value: string): boolean {
  const [given] = wholeDataUrl.exec(value) ?? []
  return given === undefined ? longBase64.test(value) : !notBase64.test(value.slice(given.length))
}

/**
 * Takes out of a text what stands in its base64: where that is text itself, whatever it says that it is, in the data URLs
 * within it, or as the whole.
 */
export function redactEncoded(text: string, redact: (text: string) => Redacted<string>): Redacted<string> {
  const rewritten = (encoded: string): string => {
    const plain = textIn(encoded)
    const redacted = plain === null ? null : redact(plain)
    return redacted?.changed ? Buffer.from(redacted.value, 'utf8').toString('base64') : encoded
  }
  const [given] = wholeDataUrl.exec(text) ?? []
  let value = text
  if (given !== undefined && isBytes(text)) value = given + rewritten(text.slice(given.length))
  else if (base64.test(text)) value = rewritten(text)
  else if (text.includes(';base64,')) {
    value = text.replace(dataUrls, (_, start: string, encoded: string) => start + rewritten(encoded))
  }
  return { value, changed: value !== text }
}

/** What base64 says where it is text in UTF-8; `null` for any other bytes. */
function textIn(encoded: string): string | null {
  const start = decoded(Buffer.from(encoded.slice(0, firstBytes), 'base64'), true)
  if (start === null) return null
  return encoded.length <= firstBytes ? start : decoded(Buffer.from(encoded, 'base64'), false)
}

function decoded(bytes: Buffer, cut: boolean): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: cut })
    return control.test(text) ? null : text
  } catch {
    return null
  }
}
