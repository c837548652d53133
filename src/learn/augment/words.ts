import type { DemonstratedEpisode, Rng } from '../../core/index.ts'
import { coinedName, type Coining, knownShare } from './coined.ts'
import {
  type Argument,
  type ArgumentPool,
  argumentsOf,
  instructionOf,
  listed,
  pooled,
  type Replacement,
  standsIn,
  wholly,
} from './retell.ts'

/**
 * Words that an episode's calls copy: whole arguments that an observation holds and the instruction does not, as the file
 * that a note points to. Several words can hold the key that they stand for, and are left alone.
 */
export function copiedWords(episode: DemonstratedEpisode): readonly Argument[] {
  const instruction = instructionOf(episode)
  const found = new Map<string, Argument>()
  let seen = ''
  for (const message of episode.messages) {
    if (message.role === 'tool') seen += `\n${message.content}`
    for (const argument of argumentsOf(message)) {
      const { text } = argument
      if (isWord(text) && standsIn(text, seen) && !standsIn(text, instruction)) found.set(text, argument)
    }
  }
  return [...found.values()]
}

const isWord = (text: string): boolean => /^[\p{L}_-]{1,80}$/u.test(text)

/** The words that demonstrations copy, by the argument that they were given to. */
export const poolOfWords = (demonstrations: readonly DemonstratedEpisode[]): ArgumentPool =>
  listed(pooled(demonstrations.flatMap(copiedWords)))

/**
 * Another word for each that is copied, which stands nowhere here: one that the same argument was given elsewhere, or any.
 * A value that a tool's schema lists stays: what is right after it can depend on it.
 */
export function otherWords(
  episode: DemonstratedEpisode,
  pool: ArgumentPool,
  { english, chosen }: Coining,
  random: Rng,
): readonly Replacement[] {
  const copied = copiedWords(episode).filter(({ text }) => !chosen.has(text))
  const said = episode.messages.map(({ content }) => content).join('\n')
  const taken = new Set<string>()
  return copied.flatMap(({ given, text }) => {
    const isFree = (other: string) => !taken.has(other) && !standsIn(other, said)
    const known = (pool.get(given) ?? []).filter(isFree)
    const isKnown = random.next() < knownShare
    const other = isKnown ? known[random.int(Math.max(1, known.length))] : coinedName(text, english, random).name
    if (other === undefined || !isFree(other)) return []
    taken.add(other)
    return [{ pattern: wholly(text), other }]
  })
}
