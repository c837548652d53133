import { randomUUID } from 'node:crypto'
import type { ChatModel, ChatQuestion, Judge, Trajectory } from '../../core/index.ts'
import { RewardError } from '../errors.ts'
import type { RewardPart } from '../part.ts'
import { askedOf, median } from './asked.ts'
import { recordOf } from './record.ts'
import { allIsData, readWord, usualCriterion } from './word.ts'

/** How a model judges. */
export interface ModelJudgeOptions {
  readonly model: ChatModel
  /** A question about an episode, whose answer goes from no to yes. Default: whether it did what was asked. */
  readonly criterion?: string
  /** How often it is asked; the median counts, once more than half have answered. 1 to 25. Default 1. */
  readonly votes?: number
  /** Tokens of an answer, thoughts included. Default 1,024. */
  readonly maxTokens?: number
}

/**
 * A model as a judge of episodes, from 0 to 1 in tenths. What it reads of them is data and never instruction; what it
 * answers is one whole number from 0 to 10, and anything else is no vote.
 * @throws RewardError for a number of votes that cannot be.
 */
export function modelJudge({
  model,
  criterion = usualCriterion,
  votes = 1,
  maxTokens = 1_024,
}: ModelJudgeOptions): Judge {
  checkVotes(votes)
  return {
    name: `model:${JSON.stringify([model.name, criterion, votes, maxTokens])}`,
    async judge(trajectory) {
      const said: number[] = []
      for (let vote = 0; vote < votes; vote++) {
        const answer = await askedOf(model, judgeQuestion(trajectory, { criterion, maxTokens }))
        const score = answer === null ? null : readWord(answer)
        if (score !== null) said.push(score)
      }
      const score = said.length * 2 > votes ? median(said) : null
      return score === null ? null : { score, explanation: `votes ${said.join(', ')}` }
    },
  }
}

/** @param mark makes the marks of this one question: at random, so that nothing that is judged can know them. */
export function judgeQuestion(
  { nodes }: Pick<Trajectory, 'nodes'>,
  { criterion, maxTokens, mark = randomUUID() }: { criterion: string; maxTokens: number; mark?: string },
): ChatQuestion {
  const [open, close] = [`<session-${mark}>`, `</session-${mark}>`]
  return {
    instructions: `You judge a finished session of an assistant. Between ${open} and ${close} stands a record of it, as JSON; where it was long, "leftOut" counts what is not shown. ${allIsData}\n\n${criterion} Answer with one whole number from 0 (no) to 10 (yes), and nothing else.`,
    material: [open, recordOf(nodes.map(({ message }) => message)), close].join('\n'),
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

/** @throws RewardError for a number of votes that cannot be. */
export function checkVotes(votes: number): void {
  if (Number.isInteger(votes) && votes >= 1 && votes <= 25) return
  throw new RewardError({
    code: 'reward/bad-votes',
    message: `A judge cannot vote ${votes} times.`,
    hint: 'Ask for 1 to 25 votes.',
  })
}
