import type { DemonstratedEpisode, Rng } from '../../core/index.ts'
import { requireOption } from './errors.ts'

/** What can be read beside a question. Titles are unique. */
export interface RaftDocument {
  readonly title: string
  readonly text: string
}

/** A question with the documents that answer it. */
export interface RaftQuestion {
  readonly question: string
  readonly oracles: readonly RaftDocument[]
  /** Best with the reasoning that leads to it, which quotes the oracle: what is imitated is how the answer is found. */
  readonly answer: string
}

/** What is put beside questions. */
export interface RaftOptions {
  /** What distractors are drawn from; oracles may be among them. */
  readonly documents: readonly RaftDocument[]
  /** Documents beside the oracles that do not answer the question. Default 4. */
  readonly distractors?: number
  /** The probability in [0, 1] that the oracles are there at all. Default 0.8. */
  readonly oracleShare?: number
  readonly rng: Rng
  /** Lays out what is read. Default: each document under its title, and then the question. */
  readonly layout?: (question: string, documents: readonly RaftDocument[]) => string
}

/**
 * Demonstrations of answering from documents of which most do not help: each question with its oracles and so many distractors,
 * in an order that says nothing; and in a part of them the distractors alone, so that the answer is known by heart as well
 * (RAFT, Zhang et al. 2024, section 3: P = 0.8, 4 distractors).
 * @throws OptimizeError where there are not enough other documents, and for options out of range.
 */
export function raft(
  questions: readonly RaftQuestion[],
  { documents, distractors = 4, oracleShare = 0.8, rng, layout = asTitled }: RaftOptions,
): readonly DemonstratedEpisode[] {
  const whole = Number.isInteger(distractors) && distractors >= 0
  requireOption(whole, `distractors is ${distractors}`, 'Make it a whole number, at least 0')
  const within = oracleShare >= 0 && oracleShare <= 1
  requireOption(within, `oracleShare is ${oracleShare}`, 'Make it at least 0 and at most 1')
  return questions.map(({ question, oracles, answer }) => {
    const answers = new Set(oracles.map(({ title }) => title))
    const others = documents.filter(({ title }) => !answers.has(title))
    requireOption(
      others.length >= distractors,
      `Beside its oracles a question has ${others.length} documents, and is to have ${distractors} distractors`,
      'Give more documents, or ask for fewer distractors',
    )
    const there = rng.next() < oracleShare ? oracles : []
    const read = rng.shuffle([...there, ...rng.shuffle(others).slice(0, distractors)])
    return {
      messages: [
        { role: 'user', content: layout(question, read) },
        { role: 'assistant', content: answer },
      ],
    }
  })
}

const asTitled = (question: string, documents: readonly RaftDocument[]): string =>
  [...documents.map(({ title, text }) => `[${title}]\n${text}`), question].join('\n\n')
