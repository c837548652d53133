import type { Rng, Task } from '../../core/index.ts'
import { usesOf, wordsOf } from './vocabulary.ts'

/** The probability that a word is left out, and that another comes before it. */
const dropped = 0.1
const inserted = 0.1

/** Words that instructions use, each as often as they do; those that hardly another instruction has are none. */
export function wordsInUse(train: readonly Pick<Task, 'instruction'>[]): readonly string[] {
  const instructions = train.map(({ instruction }) => instruction)
  const uses = usesOf(instructions)
  const common = Math.max(2, train.length / 200)
  return instructions.flatMap(wordsOf).filter((word) => (uses.get(word) ?? 0) >= common)
}

/**
 * An instruction in other words: some common ones left out, and some put in (random deletion and insertion: Wei &
 * Zou 2019, EDA). What it is about then counts for more than how it is said.
 * @param kept texts that stay as they are, each in one piece.
 */
export function disturbed(instruction: string, kept: readonly string[], words: readonly string[], random: Rng): string {
  const pieces = split(instruction, kept)
  const common = new Set(words)
  const told = pieces.flatMap(({ text, fixed }) => {
    const before = words.length > 0 && random.next() < inserted ? [words[random.int(words.length)] ?? ''] : []
    return [
      ...before,
      ...(!fixed && wordsOf(text).every((word) => common.has(word)) && random.next() < dropped ? [] : [text]),
    ]
  })
  return told.length === 0 || instruction.trim() === '' ? instruction : told.join(' ')
}

/** Words of an instruction, and the texts to keep with what follows them up to the next space. */
function split(
  instruction: string,
  kept: readonly string[],
): readonly { readonly text: string; readonly fixed: boolean }[] {
  const words = instruction.split(' ')
  const pieces: { text: string; fixed: boolean }[] = []
  for (let at = 0; at < words.length; ) {
    const rest = words.slice(at).join(' ')
    const held = kept
      .filter((text) => text.length > 0 && rest.startsWith(text))
      .toSorted((a, b) => b.length - a.length)[0]
    const count = held === undefined ? 1 : held.split(' ').length
    pieces.push({ text: words.slice(at, at + count).join(' '), fixed: held !== undefined })
    at += count
  }
  return pieces
}
