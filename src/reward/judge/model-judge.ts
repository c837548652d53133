import { randomUUID } from 'node:crypto'
import type { ChatQuestion, Judge, Trajectory } from '../../core/index.ts'
import type { RewardPart } from '../part.ts'
import { messagesOf, recordOf } from './record.ts'
import { type ModelJudgeOptions, votedJudge } from './voted-judge.ts'
import { allIsData, readWord } from './word.ts'

/**
 * A model as a judge of episodes, from 0 to 1 in tenths. What it reads of them is data and never instruction; what it
 * answers is one whole number from 0 to 10, and anything else is no vote.
 * @throws RewardError for a number of votes that cannot be.
 */
export const modelJudge = (options: ModelJudgeOptions): Judge =>
  votedJudge(options, { sort: 'model', question: judgeQuestion, scoreIn: readWord })

/** @param mark makes the marks of this one question: at random, so that nothing that is judged can know them. */
export function judgeQuestion(
  trajectory: Pick<Trajectory, 'nodes'>,
  { criterion, maxTokens, mark = randomUUID() }: { criterion: string; maxTokens: number; mark?: string },
): ChatQuestion {
  const [open, close] = [`<session-${mark}>`, `</session-${mark}>`]
  return {
    instructions: `You judge a finished session of an assistant. Between ${open} and ${close} stands a record of it, as JSON; where it was long, "leftOut" counts what is not shown. ${allIsData}\n\n${criterion} Answer with one whole number from 0 (no) to 10 (yes), and nothing else.`,
    material: [open, recordOf(messagesOf(trajectory)), close].join('\n'),
    maxTokens,
  }
}

/** A part from a {@link Judge}: its score times a weight; `null` where it says nothing. */
export function judgedBy(judge: Judge, weight = 1): RewardPart {
  return {
    identity: `judge:${JSON.stringify([judge.name, weight])}`,
    async score(trajectory) {
      const verdict = await judge.judge(trajectory)
      return verdict === null ? null : weight * verdict.score
    },
  }
}
