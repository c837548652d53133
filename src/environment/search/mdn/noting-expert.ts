import { call, type Policy } from '../../play.ts'
import { questionOf, read } from './expert.ts'
import { answerQuestion, type Question, type QuestionKind } from './question.ts'
import { browsers, isSupported, type SupportTable } from './support.ts'

/** What a note begins with: which kind of answer is wanted, said while the question is near. */
const wanted: Readonly<Record<QuestionKind, string>> = {
  since: 'since',
  'which-first': 'first',
  'how-many': 'count',
  wherever: 'has',
}

/**
 * The expert that notes after each document what is known so far. It begins with the last title of the question, and says
 * what is new right after the browser's name, before what the note above says: so a note is the line that was just read with
 * the end of the note above, and the answer is the last note in another order. A small model can copy that.
 */
export const notingExpert: Policy = async (episode, task) => {
  const question = questionOf(task)
  const tables: SupportTable[] = []
  for (const title of question.titles.toReversed()) {
    tables.unshift(await read(episode, title))
    await episode.step({ kind: 'message', content: noteOf(question, tables) })
  }
  await call(episode, 'answer', { text: answerQuestion(question, tables)[0] ?? 'unknown' })
}

/** @param tables newest first. */
function noteOf({ kind, browser }: Question, tables: readonly SupportTable[]): string {
  if (browser !== null) return [wanted[kind], browser, ...tables.map((table) => table[browser])].join(' ')
  return [wanted[kind], ...browsers.filter((one) => isSupported(tables[0]?.[one] ?? 'never'))].join(' ')
}
