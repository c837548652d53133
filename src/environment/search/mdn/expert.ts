import type { Episode, Task } from '../../../core/index.ts'
import { MalformedTaskError } from '../malformed-task-error.ts'
import { call, type Policy } from '../../play.ts'
import { readSearchTask } from '../task-data.ts'
import { noteOf } from './note.ts'
import { answerQuestion, Question, tierOfKind } from './question.ts'
import { readSupportLines, type SupportTable } from './support.ts'

/** Which of the listed titles to open when `wanted` was searched for. */
type Choice = (hits: readonly string[], wanted: string) => string

/**
 * Knows what every question asks: searches each title, opens it, answers from what it read. For priming only. Where there are
 * several titles it notes after each document {@link noteOf what is known so far}.
 */
export const expert: Policy = scripted({ choose: (_hits, wanted) => wanted, notes: true })

/** Opens whatever is listed first: what carelessness scores. */
export const firstHit: Policy = scripted({ choose: (hits, wanted) => hits[0] ?? wanted, notes: false })

/** Reads the titles of the question, the last one first, and answers. */
function scripted({ choose, notes }: { readonly choose: Choice; readonly notes: boolean }): Policy {
  return async (episode, task) => {
    const question = questionOf(task)
    const noted = notes && question.titles.length > 1
    const tables: SupportTable[] = []
    for (const title of question.titles.toReversed()) {
      tables.unshift(await read(episode, title, choose))
      if (noted) await episode.step({ kind: 'message', content: noteOf(question, tables) })
    }
    await call(episode, 'answer', { text: answerQuestion(question, tables)[0] ?? 'unknown' })
  }
}

/** Searches a title, and opens what is chosen of the list. */
async function read(episode: Episode, title: string, choose: Choice): Promise<SupportTable> {
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
