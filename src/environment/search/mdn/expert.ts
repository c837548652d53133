import type { Task } from '../../../core/index.ts'
import { MalformedTaskError } from '../malformed-task-error.ts'
import { call, type Policy } from '../../play.ts'
import { readSearchTask } from '../task-data.ts'
import { answerQuestion, Question, tierOfKind } from './question.ts'
import { type Browser, browsers, isSupported, readSupportLines, type SupportTable } from './support.ts'

/** Which of the listed titles to open when `wanted` was searched for. */
type Choice = (hits: readonly string[], wanted: string) => string

/** Knows what every question asks: searches each title, opens it, answers from what it read. For priming only. */
export const expert: Policy = scripted((_hits, wanted) => wanted)

/**
 * Says of each document what it brings to the answer, before it goes on: the line that a question about this document alone
 * would be answered with, or which browsers have the feature. So what a composed question asks for is never far above.
 */
export const notingExpert: Policy = scripted((_hits, wanted) => wanted, noteOf)

/** Opens whatever is listed first: what carelessness scores. */
export const firstHit: Policy = scripted((hits, wanted) => hits[0] ?? wanted)

function scripted(choose: Choice, note?: (table: SupportTable, browser: Browser | null) => string): Policy {
  return async (episode, task) => {
    const question = questionOf(task)
    const tables: SupportTable[] = []
    for (const title of question.titles) {
      const hits = (await call(episode, 'search', { query: title })).split('\n')
      const table = readSupportLines(await call(episode, 'open', { title: choose(hits, title) }))
      if (note) await episode.step({ kind: 'message', content: note(table, question.browser) })
      tables.push(table)
    }
    await call(episode, 'answer', { text: answerQuestion(question, tables)[0] ?? 'unknown' })
  }
}

function noteOf(table: SupportTable, browser: Browser | null): string {
  if (browser !== null) return `${browser} ${table[browser]}`
  return ['has', ...browsers.filter((one) => isSupported(table[one]))].join(' ')
}

/** @throws MalformedTaskError when the task is not one of {@link loadMdn}. */
export function questionOf(task: Task): Question {
  const checked = Question.safeParse(readSearchTask(task).question)
  if (!checked.success) throw new MalformedTaskError(task.id, 'data.question is missing: it is not an MDN task')
  return checked.data
}

/** Kind of question and browser: what a policy without tools can tell tasks apart by. */
export function stratumOf(task: Task): string {
  const { kind, browser } = questionOf(task)
  return `${kind} ${browser ?? 'all'}`
}

/** The tier of the question, whatever words it is put in: a reworded task has that of the plain ones. */
export function plainTierOf(task: Task): string {
  return tierOfKind(questionOf(task).kind)
}
