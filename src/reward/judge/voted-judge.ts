import type { ChatModel, ChatQuestion, Judge, StepLabel, Trajectory } from '../../core/index.ts'
import { RewardError } from '../errors.ts'
import { askedOf, median } from './asked.ts'
import { usualCriterion } from './word.ts'

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

/** What one sort of judge asks of an episode, and how it reads an answer. */
export interface Voting {
  /** Of its name. */
  readonly sort: string
  readonly question: (
    trajectory: Trajectory,
    how: { readonly criterion: string; readonly maxTokens: number },
  ) => ChatQuestion
  /** The score that an answer stands for; `null` where it is no vote. */
  readonly scoreIn: (answer: string) => number | null
}

/**
 * A model that is asked about an episode several times: the median of its votes, once more than half have answered.
 * @throws RewardError for a number of votes that cannot be.
 */
export function votedJudge(
  { model, criterion = usualCriterion, votes = 1, maxTokens = 1_024 }: ModelJudgeOptions,
  { sort, question, scoreIn }: Voting,
): Judge {
  checkVotes(votes)
  return {
    name: `${sort}:${JSON.stringify([model.name, criterion, votes, maxTokens])}`,
    async judge(trajectory) {
      const said: number[] = []
      for (let vote = 0; vote < votes; vote++) {
        const answer = await askedOf(model, question(trajectory, { criterion, maxTokens }))
        const score = answer === null ? null : scoreIn(answer)
        if (score !== null) said.push(score)
      }
      const score = said.length * 2 > votes ? median(said) : null
      return score === null ? null : { score, explanation: `votes ${said.join(', ')}` }
    },
  }
}

/** The label that more than half of all votes say, those among them that say nothing; `null` where none has so many. */
export function majorityOf(said: readonly unknown[], votes: number): StepLabel | null {
  const most = (label: StepLabel) => said.filter((one) => one === label).length * 2 > votes
  return most('good') ? 'good' : most('bad') ? 'bad' : null
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
