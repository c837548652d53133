import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { type Message, pathTo, type Reward, type StepJudge, type Trajectory } from '../../core/index.ts'
import { askedOf, jsonIn } from './asked.ts'
import { asData, recordOf } from './record.ts'
import { checkVotes, majorityOf, type ModelJudgeOptions } from './voted-judge.ts'
import { allIsData } from './word.ts'

const usualQuestion =
  'Of an episode that went well, a step is good if it helped to bring that about, and else bad. Of one that did not, a step is good only if it shows that it mitigated or mended an error, and else bad. Where you cannot tell, it is unclear.'

/** Steps of one episode that are judged; of a longer one there is no opinion. */
const mostSteps = 100
/** Characters of all steps together, and of one at the least. */
const [mostOfAll, leastOfOne] = [40_000, 200]

const Said = z.array(z.enum(['good', 'bad', 'unclear']))

/**
 * Says of each Step of an episode that is over whether it helped, by one question about the whole (the attribution of AgentEvolver,
 * Zhai et al. 2025): what `adca` credits by. With several votes what more than half of them say decides, good or bad; else a Step is
 * `null`, and all are where no more than half have one label for each Step. An episode of more than 100 Steps, or whose reward is missing, is not judged.
 * @throws RewardError for a number of votes that cannot be.
 */
export function attributionJudge({
  model,
  criterion = usualQuestion,
  votes = 1,
  maxTokens = 2_048,
}: ModelJudgeOptions): StepJudge {
  checkVotes(votes)
  return {
    name: `attribution:${JSON.stringify([model.name, criterion, votes, maxTokens])}`,
    async label(trajectory, reward) {
      const steps = stepsOf(trajectory)
      if (reward.value === null || steps.length === 0 || steps.length > mostSteps) return null
      const answers: (readonly string[])[] = []
      for (let vote = 0; vote < votes; vote++) {
        const said = labelsIn(await askedOf(model, question(trajectory, steps, { reward, criterion, maxTokens })))
        if (said?.length === steps.length) answers.push(said)
      }
      if (answers.length * 2 <= votes) return null
      return steps.map((_, i) =>
        majorityOf(
          answers.map((labels) => labels[i]),
          votes,
        ),
      )
    },
  }
}

/** What each Step said, and what came of it: what it observed, or where nothing was recorded so what followed at once. */
const stepsOf = ({ steps, nodes }: Trajectory): readonly (readonly Message[])[] => {
  const byId = new Map(nodes.map(({ id, message }) => [id, message]))
  const followed = new Map(
    nodes.flatMap(({ parent, message }) =>
      parent !== null && message.role !== 'assistant' ? [[parent, message] as const] : [],
    ),
  )
  return steps.map(({ action, observations }) => {
    const observed = observations.flatMap((id) => byId.get(id) ?? [])
    const next = observed.length > 0 ? observed : [followed.get(action)].filter((one) => one !== undefined)
    return [...[byId.get(action)].filter((one) => one !== undefined), ...next]
  })
}

/** What stood there before the first Step. */
function openingOf({ nodes, steps }: Trajectory): readonly Message[] {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const first = steps[0] && byId.get(steps[0].action)
  return first
    ? pathTo(first, byId)
        .slice(0, -1)
        .map(({ message }) => message)
    : []
}

function question(
  trajectory: Trajectory,
  steps: readonly (readonly Message[])[],
  { reward, criterion, maxTokens }: { reward: Reward; criterion: string; maxTokens: number },
) {
  const mark = randomUUID()
  const [open, close] = [`<episode-${mark}>`, `</episode-${mark}>`]
  const most = Math.max(leastOfOne, Math.floor(mostOfAll / (steps.length + 1)))
  const data = {
    asked: JSON.parse(recordOf(openingOf(trajectory), { most })) as unknown,
    steps: steps.map((messages, i) => ({
      step: i + 1,
      messages: JSON.parse(recordOf(messages, { most, from: 'start' })) as unknown,
    })),
  }
  return {
    instructions: `You look at an episode of an assistant that is over. It has ${steps.length} steps and earned ${reward.value} in all; more is better. It stands between ${open} and ${close}, as JSON. ${allIsData}\n\n${criterion} Answer with a JSON array of ${steps.length} words and nothing else, one for each step in its order: "good", "bad" or "unclear".`,
    material: [open, asData(data), close].join('\n'),
    maxTokens,
  }
}

function labelsIn(answer: string | null) {
  const read = answer === null ? null : Said.safeParse(jsonIn(answer))
  return read?.success ? read.data : null
}
