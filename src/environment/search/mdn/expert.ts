import type { Episode, Task } from '../../../core/index.ts'
import { MalformedTaskError } from '../malformed-task-error.ts'
import { call, type Policy } from '../../play.ts'
import { readSearchTask } from '../task-data.ts'
import { answerQuestion, Question, tierOfKind } from './question.ts'
import { readSupportLines, type SupportTable } from './support.ts'

/** Which of the listed titles to open when `wanted` was searched for. */
type Choice = (hits: readonly string[], wanted: string) => string

/** Knows what every question asks: searches each title, opens it, answers from what it read. For priming only. */
export const expert: Policy = scripted((_hits, wanted) => wanted)

/** Opens whatever is listed first: what carelessness scores. */
export const firstHit: Policy = scripted((hits, wanted) => hits[0] ?? wanted)

function scripted(choose: Choice): Policy {
  return async (episode, task) => {
    const question = questionOf(task)
    const tables: SupportTable[] = []
    for (const title of question.titles) tables.push(await read(episode, title, choose))
    await call(episode, 'answer', { text: answerQuestion(question, tables)[0] ?? 'unknown' })
  }
}

/** Searches a title, and opens what is chosen of the list. */
export async function read(
  episode: Episode,
  title: string,
  choose: Choice = (_hits, wanted) => wanted,
): Promise<SupportTable> {
  const hits = (await call(episode, 'search', { query: title })).split('\n')
  return readSupportLines(await call(episode, 'open', { title: choose(hits, title) }))
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
