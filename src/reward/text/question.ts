import { seen } from './visible.ts'

/**
 * Marks that end a question, script by script; Greek writes a semicolon. One before the query of an address is none; one in
 * code is, as words can be written as code. The full-width one is an ordinary one by now ({@link seen}).
 */
const mark = /[?؟՞፧⸮⳺⳻꘏꛷‽]|(?<=\p{Script=Greek}["'»”)]{0,3});/u
const address = /(?:https?|wss?|ftp|file):\/\/\S+/giu
const beforeQuery = /\?(?=[\w.~%[\]-]+(?:=|&|$))/gu

/** Whether a text holds a question anywhere, by its marks alone: in any language whose script has one. */
export function holdsQuestion(text: string): boolean {
  return mark.test(withoutAddresses(text))
}

/** Whether a text ends in a question, whatever marks stand after it. */
export function endsInQuestion(text: string): boolean {
  const end = withoutAddresses(text.slice(-4_000)).trimEnd().slice(-200)
  return mark.test(/[^\p{L}\p{N}]*$/u.exec(end)?.[0] ?? '') || /\p{Script=Greek};["'»”)]*$/u.test(end)
}

const withoutAddresses = (text: string): string =>
  seen(text).replaceAll(address, (found) => (mark.test(found.replaceAll(beforeQuery, '')) ? '?' : ' '))
