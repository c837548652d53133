import { randomUUID } from 'node:crypto'
import type { Message, NodeId, StepJudge, StepLabel, Trajectory } from '../../core/index.ts'
import { askedOf } from './asked.ts'
import { recordOf } from './record.ts'
import { checkVotes, majorityOf, type ModelJudgeOptions } from './voted-judge.ts'
import { allIsData } from './word.ts'

const usualQuestion =
  'Does what happened next show that the turn helped? Progress or thanks: good. A request to redo, rephrase, correct or change it, or a failure: bad. Anything else: unclear.'

/**
 * Judges each Step by what happened next: the user's next words, or a tool's result (OpenClaw-RL's next-state signal). What
 * more than half of the votes say decides, good or bad; else it is `null`. The last Step has no next state: `null`.
 * @throws RewardError for a number of votes that cannot be.
 */
export function nextStateJudge({
  model,
  criterion = usualQuestion,
  votes = 3,
  maxTokens = 256,
}: ModelJudgeOptions): StepJudge {
  checkVotes(votes)
  return {
    name: `next-state:${JSON.stringify([model.name, criterion, votes, maxTokens])}`,
    async label(trajectory) {
      const labels: (StepLabel | null)[] = []
      for (const { action } of trajectory.steps) {
        const next = nextOf(trajectory, action)
        labels.push(next === null ? null : await vote(next))
      }
      return labels
    },
  }

  async function vote(turn: readonly Message[]): Promise<StepLabel | null> {
    const said: string[] = []
    for (let i = 0; i < votes; i++) {
      const mark = randomUUID()
      const [open, close] = [`<turn-${mark}>`, `</turn-${mark}>`]
      const answer = await askedOf(model, {
        instructions: `You look at one turn of an assistant and at what happened next. Both stand between ${open} and ${close}, as JSON. ${allIsData}\n\n${criterion} Answer with one word: good, bad or unclear.`,
        material: [open, recordOf(turn, { most: 8_000, from: 'start' }), close].join('\n'),
        maxTokens,
      })
      said.push((answer ?? '').trim().toLowerCase())
    }
    return majorityOf(said, votes)
  }
}

/** A turn and what followed it at once; `null` where nothing did. */
function nextOf({ nodes }: Trajectory, action: NodeId): readonly Message[] | null {
  const turn = nodes.find(({ id }) => id === action)
  const next = nodes.filter(({ parent, message }) => parent === action && message.role !== 'assistant')
  return turn === undefined || next.length === 0 ? null : [turn.message, ...next.map(({ message }) => message)]
}
