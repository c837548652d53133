import type { DemonstratedEpisode, Rng } from '../../core/index.ts'
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
    for (const { given, text } of argumentsOf(message)) {
      if (isWord(text) && standsIn(text, seen) && !standsIn(text, instruction)) found.set(text, { given, text })
    }
  }
  return [...found.values()]
}

const isWord = (text: string): boolean => /^[\p{L}_-]{1,80}$/u.test(text)

/** The words that demonstrations copy, by the argument that they were given to. */
export const poolOfWords = (demonstrations: readonly DemonstratedEpisode[]): ArgumentPool =>
  listed(pooled(demonstrations.flatMap(copiedWords)))

/** Another word for each that is copied: one that the same argument was given elsewhere, and that stands nowhere here. */
export function otherWords(episode: DemonstratedEpisode, pool: ArgumentPool, random: Rng): readonly Replacement[] {
  const said = episode.messages.map(({ content }) => content).join('\n')
  const taken = new Set<string>()
  return copiedWords(episode).flatMap(({ given, text }) => {
    const others = (pool.get(given) ?? []).filter((other) => !taken.has(other) && !standsIn(other, said))
    const other = others[random.int(Math.max(1, others.length))]
    if (other === undefined) return []
    taken.add(other)
    return [{ pattern: wholly(text), other }]
  })
}
