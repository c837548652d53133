import { seen } from './visible.ts'

/** Scripts that are written without blanks: each character is a token. */
const unspaced =
  '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}\\p{Script=Tibetan}]'

/** Numbers with their sign and separators, words, characters of {@link unspaced} scripts, units. */
const token = new RegExp(
  [
    '(?:(?<![\\p{L}\\p{N}])[-−])?\\p{N}+(?:[.,:/]\\p{N}+)*',
    unspaced,
    `(?:(?!${unspaced})[\\p{L}\\p{M}])+(?:['’]\\p{L}+)*`,
    '[\\p{Sc}%‰]',
  ].join('|'),
  'gu',
)

const single = new RegExp(`^${unspaced}$`, 'u')

/** Whether a token is a character of a script that is written without blanks. */
export const isUnspaced = (one: string): boolean => single.test(one)

/** The words, numbers and units of a text in any script, in lower case; marks and white space are none. */
export function textTokens(text: string): readonly string[] {
  return seen(text).toLowerCase().match(token) ?? []
}

/**
 * The words and numbers of a text, as far as texts are compared by what they say: of scripts without blanks pairs of
 * characters, as a long text holds most single ones.
 */
export function termsOf(text: string): readonly string[] {
  const tokens = textTokens(text)
  return tokens.flatMap((one, i) => {
    const [before, next] = [tokens[i - 1], tokens[i + 1]]
    if (!isUnspaced(one)) return [one]
    if (next !== undefined && isUnspaced(next)) return [one + next]
    return before !== undefined && isUnspaced(before) ? [] : [one]
  })
}

/**
 * How much a token tells, from 0 to {@link fact}: a number all, a word the more the longer it is. Words are the shorter the
 * more often they are used, in every language (Zipf's law of abbreviation; Bentz and Ferrer-i-Cancho 2016).
 */
export function weightOf(one: string): number {
  if (/\p{N}/u.test(one)) return fact
  if (isUnspaced(one)) return 0.2
  return /\p{L}/u.test(one) ? Math.min(fact, one.length / 12) : 0.5
}

/** The weight of one number, or of a word of nine letters. */
export const fact = 0.75

/** The weight of tokens together. */
export function weigh(tokens: Iterable<string>): number {
  let sum = 0
  for (const one of tokens) sum += weightOf(one)
  return sum
}

/** How often each token comes. */
export function counted(tokens: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const one of tokens) counts.set(one, (counts.get(one) ?? 0) + 1)
  return counts
}

/** The weight of what comes more often in one than in another. */
export function excess(of: ReadonlyMap<string, number>, over: ReadonlyMap<string, number>): number {
  let sum = 0
  for (const [one, times] of of) sum += Math.max(0, times - (over.get(one) ?? 0)) * weightOf(one)
  return sum
}
