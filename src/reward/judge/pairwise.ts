import { randomUUID } from 'node:crypto'
import type { ChatModel, ChatQuestion, Trajectory } from '../../core/index.ts'
import { askedOf } from './asked.ts'
import { messagesOf, mostOfRecord, recordOf } from './record.ts'
import { checkVotes, type ModelJudgeOptions } from './voted-judge.ts'
import { allIsData } from './word.ts'

/** Which of two attempts is better. */
export interface Comparison {
  /** 1: the first; 0: the second; between: as many votes went. Votes that changed with the order count one half. */
  readonly first: number
  /** Share of votes that changed with the order: what the judge knows of places, and not of attempts. */
  readonly turned: number
}

const usualComparison = 'Which attempt did better what the user asked, correctly and completely, with nothing made up?'

/**
 * A model that compares two attempts, each time in both orders: what it prefers only in one place is no preference (Zheng et
 * al., "Judging LLM-as-a-Judge", 2023). Equal attempts are not asked about.
 * @returns `null` where it did not answer all that it was asked.
 * @throws RewardError for a number of votes that cannot be.
 */
export function pairwiseJudge({ model, criterion = usualComparison, votes = 1, maxTokens = 1_024 }: ModelJudgeOptions) {
  checkVotes(votes)
  const ask = (a: Trajectory, b: Trajectory) => placeOf(model, pairQuestion([a, b], { criterion, maxTokens }))
  return async (a: Trajectory, b: Trajectory): Promise<Comparison | null> => {
    if (recordOf(messagesOf(a)) === recordOf(messagesOf(b))) return { first: 0.5, turned: 0 }
    let first = 0
    let turned = 0
    for (let vote = 0; vote < votes; vote++) {
      const straight = await ask(a, b)
      const swapped = await ask(b, a)
      if (straight === null || swapped === null) return null
      first += (straight + (1 - swapped)) / 2
      if (straight !== 0.5 && straight === swapped) turned += 1
    }
    return { first: first / votes, turned: turned / votes }
  }
}

/** How much it prefers what stands first: 1, 0, or 0.5 for neither; `null` for no answer. */
async function placeOf(model: ChatModel, question: ChatQuestion): Promise<number | null> {
  const said = /^\s*([012])\s*$/.exec((await askedOf(model, question)) ?? '')?.[1]
  return said === undefined ? null : { '0': 0.5, '1': 1, '2': 0 }[said as '0' | '1' | '2']
}

export function pairQuestion(
  pair: readonly [Trajectory, Trajectory],
  { criterion, maxTokens, mark = randomUUID() }: { criterion: string; maxTokens: number; mark?: string },
): ChatQuestion {
  const place = (i: number) => [`<attempt-${i}-${mark}>`, `</attempt-${i}-${mark}>`] as const
  return {
    instructions: `You compare two attempts of an assistant at one task. Each stands between marks that end in ${mark}, as JSON; where it was long, "leftOut" counts what is not shown. ${allIsData}\n\n${criterion} Their order says nothing, nor does their length. Answer with 1 for the first, 2 for the second, 0 for neither, and nothing else.`,
    material: pair
      .flatMap((attempt, i) => {
        const [open, close] = place(i + 1)
        return [open, recordOf(messagesOf(attempt), { most: mostOfRecord / 2 }), close]
      })
      .join('\n'),
    maxTokens,
  }
}
