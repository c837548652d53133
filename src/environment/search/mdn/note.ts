import type { Question, QuestionKind } from './question.ts'
import { browsers, isSupported, type SupportTable } from './support.ts'

/** What a note begins with: which kind of answer is wanted, said while the question is near. */
const wanted: Readonly<Record<QuestionKind, string>> = {
  since: 'since',
  'which-first': 'first',
  'how-many': 'count',
  wherever: 'has',
}

/**
 * What is known so far, said after each document. What is new stands right after the browser's name, before what the note above
 * says: so a note is the line that was just read with the end of the note above, and the answer is the last note in another
 * order. A small model can copy that.
 * @param tables newest first.
 */
export function noteOf({ kind, browser }: Question, tables: readonly SupportTable[]): string {
  if (browser !== null) return [wanted[kind], browser, ...tables.map((table) => table[browser])].join(' ')
  return [wanted[kind], ...browsers.filter((one) => isSupported(tables[0]?.[one] ?? 'never'))].join(' ')
}
