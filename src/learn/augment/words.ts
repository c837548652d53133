import type { DemonstratedEpisode, Rng } from '../../core/index.ts'
import { coinedName, type Coining, knownShare } from './coined.ts'
import {
  type Argument,
  type ArgumentPool,
  argumentsOf,
  instructionOf,
  listed,
  pooled,
  replaced,
  type Replacement,
  standsIn,
  wholly,
} from './retell.ts'
import { usesOf, wordsOf } from './vocabulary.ts'

/** A whole argument that calls copy, with the words of it that can become others. */
export interface Copied extends Argument {
  readonly free: readonly string[]
}

/**
 * What an episode's calls copy: whole arguments that an observation holds and the instruction does not, as the file that a
 * note points to or the owner that a page names. Of several words those stay that can be the key of the others: those that
 * the instruction has, and those that tools say everywhere.
 * @param everywhere in small letters, see {@link saidEverywhere}.
 */
export function copiedWords(
  episode: DemonstratedEpisode,
  everywhere: ReadonlySet<string> = new Set(),
): readonly Copied[] {
  const instruction = instructionOf(episode)
  const found = new Map<string, Copied>()
  let seen = ''
  for (const message of episode.messages) {
    if (message.role === 'tool') seen += `\n${message.content}`
    for (const argument of argumentsOf(message)) {
      const { text } = argument
      if (!isWord(text) && !isPhrase(text)) continue
      if (!standsIn(text, seen) || standsIn(text, instruction)) continue
      const isFree = (word: string) => !everywhere.has(word.toLowerCase()) && !standsIn(word, instruction)
      const free = isWord(text) ? [text] : wordsOf(text).filter((word) => isWord(word) && isFree(word))
      if (free.length > 0) found.set(text, { ...argument, free })
    }
  }
  return [...found.values()]
}

/** Words that tools say in a quarter of the demonstrations or more, in small letters: keys of pages, and what joins words. */
export function saidEverywhere(demonstrations: readonly DemonstratedEpisode[]): ReadonlySet<string> {
  const told = demonstrations.map(({ messages }) =>
    messages.flatMap(({ role, content }) => (role === 'tool' ? [content.toLowerCase()] : [])).join(' '),
  )
  const many = demonstrations.length / 4
  return new Set([...usesOf(told)].flatMap(([word, uses]) => (uses >= many ? [word] : [])))
}

const isWord = (text: string): boolean => /^[\p{L}_-]{1,80}$/u.test(text)
/** Several words on one line. Numbers are told otherwise by themselves. */
const isPhrase = (text: string): boolean => text.length <= 80 && /^[^\s\p{N}]+(?: [^\s\p{N}]+)+$/u.test(text)

/** What demonstrations copy and can be anything, by the argument that it was given to. */
export const poolOfWords = (
  demonstrations: readonly DemonstratedEpisode[],
  everywhere: ReadonlySet<string> = new Set(),
): ArgumentPool =>
  listed(pooled(demonstrations.flatMap((one) => copiedWords(one, everywhere)).filter((copied) => isWhollyFree(copied))))

const isWhollyFree = ({ text, free }: Copied): boolean => wordsOf(text).every((word) => free.includes(word))

/**
 * Another text for each that is copied, which stands nowhere here: one that the same argument was given elsewhere, or any.
 * A value that a tool's schema lists stays: what is right after it can depend on it.
 */
export function otherWords(
  episode: DemonstratedEpisode,
  pool: ArgumentPool,
  { english, chosen, everywhere }: Coining & { readonly everywhere?: ReadonlySet<string> },
  random: Rng,
): readonly Replacement[] {
  const all = copiedWords(episode, everywhere).toSorted((a, b) => a.text.length - b.text.length)
  const said = episode.messages.map(({ content }) => content).join('\n')
  const taken = new Set<string>()
  const isFree = (other: string) => !taken.has(other) && !standsIn(other, said)
  let others: readonly Replacement[] = []
  for (const one of all.filter(({ text }) => !chosen.has(text))) {
    // What stands in a longer text is told alike there, or stays there, too.
    const within = all.filter(({ text }) => text !== one.text && standsIn(text, one.text)).map(({ text }) => text)
    const known = within.length === 0 && isWhollyFree(one) ? (pool.get(one.given) ?? []).filter(isFree) : null
    const isKnown = random.next() < knownShare && known !== null
    const other = isKnown
      ? known[random.int(Math.max(1, known.length))]
      : coinedText(one, within, others, english, random)
    if (other === undefined || !isFree(other)) continue
    taken.add(other)
    // The longer comes first: it is looked for as it was.
    others = [{ pattern: wholly(one.text), other }, ...others]
  }
  return others
}

/**
 * The text with other words for its free ones.
 * @param within texts that stand in it: they become what @param told says, or stay.
 */
function coinedText(
  { text, free }: Copied,
  within: readonly string[],
  told: readonly Replacement[],
  english: readonly string[],
  random: Rng,
): string {
  const kept = new Set(within.flatMap(wordsOf))
  const others = new Map(
    free.filter((word) => !kept.has(word)).map((word) => [word, coinedName(word, english, random).name]),
  )
  const coined = text.replace(/[\p{L}_-]+/gu, (word) => others.get(word) ?? word)
  return within.length === 0 ? coined : replaced(coined, told)
}
