import {
  type ChatModel,
  type GroupJudge,
  type GroupVerdict,
  nothingToCompare,
  rng,
  sha256,
  type Trajectory,
} from '../../core/index.ts'
import { askedOf } from './asked.ts'
import { messagesOf } from './record.ts'
import { type Lineup, lineupOf, readScores, rulerQuestion } from './ruler-prompt.ts'
import { checkVotes, type ModelJudgeOptions } from './voted-judge.ts'

/** How {@link ruler} judges. */
export interface RulerOptions extends ModelJudgeOptions {
  /** Decides in which order attempts are shown. Default 0. */
  readonly seed?: number
}

const usualGoal = 'Do what the user asks, correctly and completely, with nothing made up.'
/** More do not stand beside each other in one question. */
const mostAttempts = 16
/** An answer that is none is asked for once more. */
const tries = 2

/**
 * A relative judge over a Group (RULER: OpenPipe, "Relative Universal LLM-Elicited Rewards", 2025): one question shows all
 * attempts, what they have in common once and identical ones once, in an order that is drawn for each vote. An answer
 * without exactly one score in [0, 1] of each attempt is asked for once more; then the group has no verdict. Of more than 16
 * that differ a vote asks in parts, which are drawn for it: a score then compares with those of its part. Attempts that are
 * all the same get 0.5, and nobody is asked: there is nothing to compare.
 * @throws RewardError for a number of votes that cannot be.
 */
export function ruler(options: RulerOptions): GroupJudge {
  const { model, criterion = usualGoal, votes = 1, maxTokens = 4_096, seed = 0 } = options
  checkVotes(votes)
  return {
    name: `ruler:${JSON.stringify([model.name, criterion, votes, maxTokens, seed])}`,
    async judge(attempts): Promise<GroupVerdict> {
      const { shared, own } = lineupOf(attempts.map(messagesOf))
      // In an order of their own, so that the order of attempts changes nothing.
      const different = [...new Set(own)].toSorted()
      if (different.length < 2) return alike(attempts.length)
      const said: Said[] = []
      for (let vote = 0; vote < votes; vote++) {
        const order = rng('ruler', seed, vote, sha256(JSON.stringify(different))).shuffle(different)
        const scored = new Map<string, { readonly score: number; readonly why: string }>()
        for (const part of partsOf(order)) {
          const scores = await scoresInOrder(model, { shared, own: part }, { criterion, maxTokens })
          if (scores === null) return { status: 'missing', reason: 'the judge gave no score of each attempt' }
          for (const [i, record] of part.entries()) scored.set(record, scores[i] ?? { score: 0, why: '' })
        }
        said.push(scored)
      }
      return {
        status: 'scored',
        scores: own.map((record) => meanOf(said.map((vote) => vote.get(record)?.score ?? 0))),
        explanations: own.map((record) => said[0]?.get(record)?.why ?? ''),
      }
    },
  }
}

type Said = ReadonlyMap<string, { readonly score: number; readonly why: string }>

const alike = (attempts: number): GroupVerdict => ({
  status: 'scored',
  scores: Array.from({ length: attempts }, () => nothingToCompare),
  explanations: Array.from({ length: attempts }, () => ''),
})

/** Parts of as equal sizes as can be, none larger than one question holds. */
function partsOf(order: readonly string[]): readonly (readonly string[])[] {
  const parts = Math.ceil(order.length / mostAttempts)
  const size = (before: number) => Math.ceil((before * order.length) / parts)
  return Array.from({ length: parts }, (_, i) => order.slice(size(i), size(i + 1)))
}

/** What the model says of attempts in just this order: nothing is shuffled, and nothing is left out. For checks of a judge. */
export async function scoresInOrder(
  model: ChatModel,
  lineup: Lineup,
  how: { readonly criterion: string; readonly maxTokens: number },
): Promise<readonly { readonly score: number; readonly why: string }[] | null> {
  for (let i = 0; i < tries; i++) {
    const answer = await askedOf(model, rulerQuestion(lineup, how))
    const scores = answer === null ? null : readScores(answer, lineup.own.length)
    if (scores !== null) return scores
  }
  return null
}

/** Scores of attempts in just this order: what {@link checkJudge} looks at. `null` for no answer. */
export function rulerInOrder({ model, criterion = usualGoal, maxTokens = 4_096 }: RulerOptions) {
  return async (attempts: readonly Trajectory[]): Promise<readonly number[] | null> => {
    const scores = await scoresInOrder(model, lineupOf(attempts.map(messagesOf)), { criterion, maxTokens })
    return scores?.map(({ score }) => score) ?? null
  }
}

const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
