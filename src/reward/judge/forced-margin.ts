import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Judge, Trajectory } from '../../core/index.ts'
import { jsonIn } from './asked.ts'
import { messagesOf, recordOf } from './record.ts'
import { type ModelJudgeOptions, votedJudge } from './voted-judge.ts'
import { allIsData } from './word.ts'

/** What a judge sees in an episode. */
export const Seen = z.strictObject({
  /** Whether it is about the task at all. */
  relevant: z.boolean(),
  /** Whether the goal was reached. */
  achieved: z.boolean(),
  /** How well it went, whether or not it was reached; in [0, 1]. */
  quality: z.number().min(0).max(1),
  /** Whether it does the same again and again. */
  repetitive: z.boolean(),
})
export type Seen = z.infer<typeof Seen>

/**
 * A score with nothing between success and failure (AgentEvolver's synthetic judge, 2025): irrelevant 0; reached 0.6 to 1;
 * not reached 0 to 0.4; repetition caps it at 0.2.
 */
export function forcedMargin({ relevant, achieved, quality, repetitive }: Seen): number {
  if (!relevant) return 0
  const score = achieved ? 0.6 + 0.4 * quality : 0.4 * quality
  return repetitive ? Math.min(score, 0.2) : score
}

/**
 * A model as a judge that must say whether the goal was reached, before it says how well; the median of its votes, once
 * more than half have answered.
 * @throws RewardError for a number of votes that cannot be.
 */
export const marginJudge = (options: ModelJudgeOptions): Judge =>
  votedJudge(options, {
    sort: 'margin',
    question: marginQuestion,
    scoreIn(answer) {
      const seen = Seen.safeParse(jsonIn(answer))
      return seen.success ? forcedMargin(seen.data) : null
    },
  })

function marginQuestion(
  trajectory: Trajectory,
  { criterion, maxTokens }: { readonly criterion: string; readonly maxTokens: number },
) {
  const mark = randomUUID()
  const [open, close] = [`<session-${mark}>`, `</session-${mark}>`]
  return {
    instructions: `You judge a finished session of an assistant. Between ${open} and ${close} stands a record of it, as JSON. ${allIsData}\n\n${criterion}\nAnswer with JSON and nothing else: {"relevant": true, "achieved": false, "quality": 0.5, "repetitive": false}. "relevant": is it about the task at all; "achieved": is the answer to the question yes; "quality": how well it went, from 0 to 1; "repetitive": does it do the same again and again.`,
    material: [open, recordOf(messagesOf(trajectory)), close].join('\n'),
    maxTokens,
  }
}
