import type { Task } from '../../core/index.ts'
import type { Corpus } from './corpus.ts'
import { readSearchTask } from './task-data.ts'
import { normaliseAnswer } from './verify.ts'

/** A task whose answer is in no document. */
export interface Unanswerable {
  readonly task: Task
  /** The preferred one of its accepted answers. */
  readonly answer: string
  /** All that is missing are numbers: the answer may have been worked out from others. */
  readonly workedOut: boolean
}

/** Answers that are judged from what is read, and stand in no document themselves. */
const verdicts = new Set(['yes', 'no', 'true', 'false', 'both', 'neither', 'none', 'unknown'])
/** An answer of so many tasks, and of such a share of them, is a label: it need not stand in a document either. */
const label = { tasks: 3, share: 0.05 }
/** Words from this length on may stand inside longer ones, as a stem does. */
const stemLength = 4
/** Scripts that put no space between words. */
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u

/**
 * Tasks that no document answers: of none of their accepted answers does each word stand in some title or line. What is
 * worked out rather than read is left alone: verdicts (yes, no), counts up to 99, words of the question itself, and labels that
 * many tasks share.
 * @throws MalformedTaskError when a task's data is not a search task's.
 */
export function unanswerable(tasks: readonly Task[], corpus: Corpus): readonly Unanswerable[] {
  const stands = wordsOf(corpus)
  const read = tasks.map((task) => ({ task, accepted: readSearchTask(task).accepted }))
  const uses = new Map<string, number>()
  for (const { accepted } of read) {
    for (const answer of new Set(accepted.map(normaliseAnswer))) uses.set(answer, (uses.get(answer) ?? 0) + 1)
  }
  const isLabel = (answer: string) => {
    const n = uses.get(normaliseAnswer(answer)) ?? 0
    return n >= label.tasks && n >= label.share * tasks.length
  }
  return read.flatMap(({ task, accepted }) => {
    const asked = new Set(splitWords(task.instruction))
    const missing = accepted.map((answer) =>
      verdicts.has(normaliseAnswer(answer)) || isLabel(answer)
        ? []
        : splitWords(answer).filter((word) => !isCount(word) && !asked.has(word) && !stands(word)),
    )
    if (missing.some(({ length }) => length === 0)) return []
    return [{ task, answer: accepted[0] ?? '', workedOut: missing.some((words) => words.every(isNumber)) }]
  })
}

/** Tells of a word whether it stands in a title or line of any document. */
function wordsOf({ documents }: Corpus): (word: string) => boolean {
  const known = new Set<string>()
  for (const { title, lines } of documents) {
    for (const line of [title, ...lines]) for (const word of splitWords(line)) known.add(word)
  }
  const all = [...known].join('\n')
  return (word) => known.has(word) || ((word.length >= stemLength || unspaced.test(word)) && all.includes(word))
}

const splitWords = (text: string): readonly string[] =>
  normaliseAnswer(text.normalize('NFKC')).match(/[\p{L}\p{N}\p{M}]+/gu) ?? []

const isNumber = (word: string): boolean => /^\p{N}+$/u.test(word)

const isCount = (word: string): boolean => isNumber(word) && word.length <= 2
