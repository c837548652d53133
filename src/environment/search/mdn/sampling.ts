import { type Rng, sha256 } from '../../../core/index.ts'
import { MalformedCorpusError } from '../malformed-corpus-error.ts'
import { answerQuestion, type Question, type QuestionForm, type QuestionKind, questionForms } from './question.ts'
import type { Shelf } from './shelf.ts'
import { type Browser, browsers } from './support.ts'

/** A question with its accepted answers, the preferred one first. */
export interface AnsweredQuestion {
  readonly question: Question
  readonly accepted: readonly string[]
}

/** How often the documents are gone through before giving up: most sets are too common or ambiguous. */
const maxPasses = 200

/**
 * Draws `count` questions of one kind about the documents of one shelf, equally many for every browser. Kept are only
 * questions that the right documents settle, that any wrong one would answer wrongly, and whose answer is not yet too
 * common. Every document is asked about before one is asked about again: outcomes are as independent as can be.
 * @throws MalformedCorpusError when the shelf does not hold so many.
 */
export function sampleQuestions(shelf: Shelf, kind: QuestionKind, count: number, rng: Rng): AnsweredQuestion[] {
  const form = questionForms[kind]
  const asked: readonly (Browser | null)[] = form.asksBrowser ? browsers : [null]
  const uses = new Map<string, number>()
  const questions = asked.flatMap((browser, at) => {
    const quota = Math.floor((count + at) / asked.length)
    const pool = shelf.titles.filter((title) => standsOut(shelf, title, form, browser ?? browsers[0]))
    const taken = new Taken(Math.max(1, Math.floor(quota * form.maxAnswerShare)))
    for (const titles of draws(pool, form.documents, uses, rng)) {
      if (taken.questions.length === quota) break
      const candidate = settle(shelf, { kind, browser, titles })
      if (candidate === undefined || !taken.admits(candidate) || wrongDocumentAnswers(shelf, candidate)) continue
      taken.add(candidate)
      for (const title of titles) uses.set(title, (uses.get(title) ?? 0) + 1)
    }
    if (taken.questions.length < quota) throw tooFew(kind, browser, taken.questions.length, quota)
    return taken.questions
  })
  return rng.shuffle(questions)
}

/** Questions kept so far: all different, none of their answers more frequent than `maxPerAnswer`. */
class Taken {
  readonly questions: AnsweredQuestion[] = []
  readonly #asked = new Set<string>()
  readonly #perAnswer = new Map<string, number>()
  readonly #maxPerAnswer: number

  constructor(maxPerAnswer: number) {
    this.#maxPerAnswer = maxPerAnswer
  }

  admits({ question, accepted }: AnsweredQuestion): boolean {
    const isNew = !this.#asked.has(question.titles.join('\n'))
    return isNew && (this.#perAnswer.get(accepted.join('\n')) ?? 0) < this.#maxPerAnswer
  }

  add(kept: AnsweredQuestion): void {
    const answer = kept.accepted.join('\n')
    this.questions.push(kept)
    this.#asked.add(kept.question.titles.join('\n'))
    this.#perAnswer.set(answer, (this.#perAnswer.get(answer) ?? 0) + 1)
  }
}

/** Whether a document settles something, and none listed beside it by the obvious search reads the same. */
function standsOut(shelf: Shelf, title: string, form: QuestionForm, browser: Browser): boolean {
  const reading = form.reading(shelf.support(title), browser)
  return (
    reading !== null &&
    shelf.siblings(title).every((sibling) => form.reading(shelf.support(sibling), browser) !== reading)
  )
}

/** Deals the documents in sets, in a new random order on every pass, those asked about least first. */
function* draws(
  pool: readonly string[],
  documents: number,
  uses: ReadonlyMap<string, number>,
  rng: Rng,
): Generator<string[]> {
  for (let pass = 0; pass < maxPasses; pass++) {
    const deck = rng.shuffle(pool).sort((a, b) => (uses.get(a) ?? 0) - (uses.get(b) ?? 0))
    for (let i = 0; i + documents <= deck.length; i += documents) yield deck.slice(i, i + documents)
  }
}

/** The question with its answers, if its documents settle it. */
function settle(shelf: Shelf, question: Question): AnsweredQuestion | undefined {
  const tables = question.titles.map((title) => shelf.support(title))
  const isSettled = questionForms[question.kind].settled?.(tables, question.browser ?? browsers[0])
  return isSettled !== false ? { question, accepted: answerQuestion(question, tables) } : undefined
}

/** Whether opening another hit of the obvious search, for any one of the documents, still gives an accepted answer. */
function wrongDocumentAnswers(shelf: Shelf, { question, accepted }: AnsweredQuestion): boolean {
  const tables = question.titles.map((title) => shelf.support(title))
  return question.titles.some((title, at) =>
    shelf.siblings(title).some((sibling) => {
      const misread = answerQuestion(question, tables.with(at, shelf.support(sibling)))
      return misread.some((answer) => accepted.includes(answer))
    }),
  )
}

function tooFew(kind: QuestionKind, browser: Browser | null, found: number, quota: number): MalformedCorpusError {
  const about = browser === null ? '' : ` about ${browser}`
  return new MalformedCorpusError(
    `Only ${found} of ${quota} "${kind}" questions${about} can be asked of these documents.`,
    'Ask for fewer tasks, or allow longer titles.',
  )
}

/** A stable name for a question, whatever words it is put in. */
export function questionId({ kind, browser, titles }: Question): string {
  return `${kind}-${sha256(JSON.stringify([browser, ...titles])).slice(0, 16)}`
}
