import type { Json } from './json.ts'
import type { Task } from './task.ts'
import { wordsIn } from './words.ts'

/** Words of a quotation: so many in a row are hardly written twice by chance. */
const quotation = 8
/** A shorter instruction, and a shorter text of a task's data, count as a whole from so many words on. */
const leastOfInstruction = 4
const leastOfData = 3
/** One word of a task's data counts from so many characters on: a shorter one may be any word. */
const longWord = 12

/** Which tasks a text must not quote. */
export interface LeakCheckParts {
  /** Tasks that measure: validation and held-out ones. */
  readonly guarded: readonly Pick<Task, 'instruction' | 'data'>[]
  /** Tasks that may be quoted: what they share with guarded ones tells nothing of these. */
  readonly known: readonly Pick<Task, 'instruction' | 'data'>[]
}

/** Whether a text quotes a guarded task. @param given a text that was there before: what it held already is no leak. */
export type LeakCheck = (text: string, given?: string) => boolean

/**
 * Finds texts that hold, word for word, what only guarded tasks hold: eight words in a row of an instruction or of a text in
 * the task's data, or the whole of a shorter one. Case and punctuation do not count. Answers of one short word are not found:
 * they would be found everywhere.
 */
export function leakCheck({ guarded, known }: LeakCheckParts): LeakCheck {
  const quotations = new Map<number, Set<string>>()
  for (const task of guarded) {
    for (const { words, least } of sourcesOf(task)) {
      if (words.length < least && !isLongWord(words)) continue
      const length = Math.min(quotation, words.length)
      const grams = quotations.get(length) ?? new Set()
      for (const gram of gramsOf(words, length)) grams.add(gram)
      quotations.set(length, grams)
    }
  }
  for (const task of known) {
    for (const { words } of sourcesOf(task)) {
      for (const [length, grams] of quotations) for (const gram of gramsOf(words, length)) grams.delete(gram)
    }
  }
  return (text, given = '') => {
    const [words, before] = [wordsIn(text), wordsIn(given)]
    return [...quotations].some(([length, grams]) => {
      const had = new Set(gramsOf(before, length))
      return gramsOf(words, length).some((gram) => grams.has(gram) && !had.has(gram))
    })
  }
}

interface Quotable {
  readonly words: readonly string[]
  readonly least: number
}

const sourcesOf = ({ instruction, data }: Pick<Task, 'instruction' | 'data'>): readonly Quotable[] => [
  { words: wordsIn(instruction), least: leastOfInstruction },
  ...textsIn(data).map((text) => ({ words: wordsIn(text), least: leastOfData })),
]

function textsIn(data: Json): readonly string[] {
  if (typeof data === 'string') return [data]
  if (typeof data !== 'object' || data === null) return []
  return Object.values(data).flatMap(textsIn)
}

const isLongWord = ([word = '', ...more]: readonly string[]) => more.length === 0 && word.length >= longWord

const gramsOf = (words: readonly string[], length: number): readonly string[] =>
  Array.from({ length: Math.max(0, words.length - length + 1) }, (_, i) => words.slice(i, i + length).join(' '))
