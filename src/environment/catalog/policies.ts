import { call, type Policy } from '../play.ts'
import { type Attribute, readValue } from './attributes.ts'
import { catalogQuestionOf } from './question.ts'

/** What a scripted policy does at the decisions of a question. */
interface Habits {
  /** Which of the listed titles it opens when it searched for `wanted`. */
  readonly open: (hits: readonly string[], wanted: string) => string
  /** What it answers from a document's text. */
  readonly read: (text: string, wanted: Attribute) => string | undefined
}

const careful: Habits = { open: (_hits, wanted) => wanted, read: readValue }

/** Searches the part, opens it, answers the value of the attribute asked for. For priming only. */
export const catalogExpert: Policy = scripted(careful)

/** Opens whatever is listed first. */
export const catalogFirstHit: Policy = scripted({ ...careful, open: (hits, wanted) => hits[0] ?? wanted })

/** Answers whatever the document says first. */
export const catalogFirstLine: Policy = scripted({ ...careful, read: (text) => /^\S+ (.+)$/m.exec(text)?.[1] })

function scripted({ open, read }: Habits): Policy {
  return async (episode, task) => {
    const { part, attribute } = catalogQuestionOf(task)
    const hits = (await call(episode, 'search', { query: part })).split('\n')
    const text = await call(episode, 'open', { title: open(hits, part) })
    await call(episode, 'answer', { text: read(text, attribute) ?? 'unknown' })
  }
}
