import type { Rng } from '../../core/index.ts'
import type { Replacement } from './retell.ts'

/** Words within a name: `iframe`, `allow` and `Size` in `iframe.allowSize`; and numbers. */
const parts = /\p{Lu}?\p{Ll}+|\p{Lu}+(?!\p{Ll})|\p{Nd}+/gu
/** How many parts of a name become others; one at least does. */
const changed = 0.8
const letters = 'abcdefghijklmnopqrstuvwxyz'
const vowels = 'aeiouy'

/** What an episode's names and words are made of. */
export interface Coining {
  readonly english: readonly string[]
  /** What its calls give to arguments whose values a schema lists: that stays. */
  readonly chosen: ReadonlySet<string>
}

/** How often a name or a word is told as one that the same argument is given elsewhere; else as one that it never is. */
export const knownShare = 0.5

/** How often a name that is an English word becomes another. */
const englishShare = 0.5

/** A name that nobody has, and what its parts were. */
export interface Coined {
  readonly name: string
  /** Each part that became another, with that. */
  readonly parts: ReadonlyMap<string, string>
}

/**
 * A name of the shape of another, with other words in it. There is no end of such names, and their tokens are any that the
 * model has: a few names would be learned by heart, and new ones copied wrong. One that is an English word becomes another
 * half of the time.
 * @param english words to make names of.
 */
export function coinedName(like: string, english: readonly string[], random: Rng): Coined {
  if (english.includes(like) && random.next() < englishShare) {
    const other = english[random.int(english.length)] ?? like
    return { name: other, parts: new Map([[like, other]]) }
  }
  const own = [...new Set(like.match(parts))]
  // A name that is no word people use stays one that they do not use: else their words would be taken for names.
  const glued = !/\s/.test(like) && own.filter((part) => /\p{L}/u.test(part)).length > 1
  const surely = random.int(Math.max(1, own.length))
  const others = new Map<string, string>()
  for (const [i, part] of own.entries()) {
    if (i === surely || random.next() < changed) others.set(part, coined(part, glued ? english : [], random))
  }
  return { name: like.replace(parts, (part) => others.get(part) ?? part), parts: others }
}

/** A part of a name where it stands in other names: `allow` in `iframe.allow.usb`, and not in `allowed`. */
export const asPart = (part: string, other: string): Replacement => ({
  pattern: new RegExp(`${/^\p{Lu}\p{Ll}/u.test(part) ? '' : '(?<!\\p{L})'}${part}(?!\\p{Ll})`, 'gu'),
  other,
})

function coined(part: string, english: readonly string[], random: Rng): string {
  if (/^\p{Nd}/u.test(part)) return Array.from(part, () => String(random.int(10))).join('')
  const other = english.length === 0 || random.next() < 0.5 ? spelled(random) : spliced(english, random)
  if (part.toLowerCase() === part) return other
  const capital = other.slice(0, 1).toUpperCase() + other.slice(1)
  return part.length > 1 && part.toUpperCase() === part ? other.toUpperCase() : capital
}

/** Letters by chance, about every other one a vowel. */
const spelled = (random: Rng): string =>
  Array.from({ length: 2 + random.int(7) }, (_, i) => {
    const from = random.next() < 0.2 || i % 2 === 0 ? letters : vowels
    return from.charAt(random.int(from.length))
  }).join('')

/** The beginning of one word and the end of another: what words are made of, in a new order. */
function spliced(english: readonly string[], random: Rng): string {
  const one = () => (english[random.int(english.length)] ?? '').toLowerCase().replace(/[^a-z]/g, '')
  const [first, second] = [one(), one()]
  const joined = first.slice(0, 1 + random.int(Math.max(1, first.length))) + second.slice(random.int(second.length + 1))
  return joined.length < 2 ? spelled(random) : joined
}
