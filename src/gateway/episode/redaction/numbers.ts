import { ibanChecks, ibanLengths, luhn } from './checksums.ts'
import { type Finder, matches } from './found.ts'

/** What stands between groups of digits: blanks and hyphens, also those at which no line breaks, which models like to write. */
const gap = ' \\u00a0\\u2007\\u2009\\u202f\\u2010-\\u2015\\u2212-'
const isGap = new RegExp(`^[${gap}]$`)

/** Digits with at most two other characters between them. */
const dialled = new RegExp(
  `(?<![\\w./-]|\\d:)(?:\\+|\\(\\+?)?\\d(?:[()./${gap}]{0,2}\\d){6,16}(?![\\w:/-]|\\.\\d)`,
  'g',
)
const northAmerican = new RegExp(`^(?:1[.${gap}]?)?\\d{3}[.${gap}]\\d{3}[.${gap}]\\d{4}$`)

/** Written as people write them: with a country code, a leading zero or bracket, or in North America's groups. */
function isPhone(match: string): boolean {
  const digits = match.replaceAll(/\D/g, '').length
  if (digits < 7 || digits > 15) return false
  if (/^[(+]/.test(match)) return true
  const grouped = match.length > digits
  return (match.startsWith('0') && (grouped || digits >= 10)) || northAmerican.test(match)
}

/** Telephone numbers. */
export const phone: Finder = matches(dialled, isPhone)

interface Group {
  readonly start: number
  readonly digits: string
}

const isCard = (digits: string) => digits.length >= 13 && digits.length <= 19 && /^[2-6]/.test(digits) && luhn(digits)
/** The digits after a decimal point are no number of their own, though a tenth of them check. */
const afterPoint = (text: string, at: number) => /\d[.,]$/.test(text.slice(Math.max(0, at - 2), at))

/** Payment cards: 13 to 19 digits, in groups or not, that begin like a card's and check. */
export const card: Finder = function* (text) {
  let groups: Group[] = []
  let end = -1
  for (const { index, 0: digits } of text.matchAll(/\d+/g)) {
    const adjoins = index === end + 1 && isGap.test(text.charAt(end))
    if (!adjoins) groups = []
    groups.push({ start: index, digits })
    end = index + digits.length
    let number = ''
    for (let i = groups.length - 1; i >= 0; i -= 1) {
      const group = groups[i]
      if (group === undefined || number.length + group.digits.length > 19) {
        groups = groups.slice(i + 1)
        break
      }
      number = group.digits + number
      if (!isCard(number) || afterPoint(text, group.start)) continue
      yield { start: group.start, end }
      groups = []
      break
    }
  }
}

/** International bank account numbers, with or without single spaces or hyphens. */
export const iban: Finder = function* (text) {
  for (const { index, 0: head } of text.matchAll(/(?<![\p{L}\p{N}])[A-Za-z]{2}\d{2}/gu)) {
    const length = ibanLengths[head.slice(0, 2).toUpperCase()]
    if (length === undefined) continue
    let written = ''
    let end = index
    while (written.length < length) {
      const at = isGap.test(text.charAt(end)) ? end + 1 : end
      const character = text.charAt(at)
      if (!/[A-Za-z0-9]/.test(character)) break
      written += character.toUpperCase()
      end = at + 1
    }
    if (written.length === length && !/[A-Za-z0-9]/.test(text.charAt(end)) && ibanChecks(written)) {
      yield { start: index, end }
    }
  }
}
