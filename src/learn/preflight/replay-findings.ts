import type { LearnableTask } from '../../core/index.ts'
import { earned, environmentError, type Proving, solved, untilTimeIsUp } from './attempt.ts'
import { acts, type WrittenDemonstration, turnsOf } from './written-demonstration.ts'
import { counted, type Finding, gravity, quoted, spread } from './finding.ts'
import { hangsOnSeed, type Replayed, replayer } from './replay.ts'
import { rubricErrors } from './rubric-findings.ts'

/** Demonstrations that are played again, at most. */
const mostReplays = 32
/** Failed ones that are played under another seed too, at most. */
const secondLooks = 3

/**
 * Plays demonstrations of training tasks again, act by act, in fresh episodes: whether they earn the reward, whether the
 * environment answers as they show, and whether it ends where they do. At most 32 of them, evenly spread; those that are
 * about no task of `tasks` are left out and only counted.
 * @throws the signal's reason when it aborts.
 */
export async function replayFindings({
  demonstrations,
  tasks,
  ...proving
}: Proving & {
  readonly demonstrations: readonly WrittenDemonstration[]
  readonly tasks: readonly LearnableTask[]
}): Promise<readonly Finding[]> {
  const numbered = demonstrations.map((one, i) => ({ ...one, number: i + 1 }))
  const active = numbered.filter(({ messages }) => turnsOf(messages).some(acts))
  const looked = await untilTimeIsUp(proving, spread(active, mostReplays), replayer(proving, tasks))
  const replayed = looked.filter((one) => one !== null)
  const sound = replayed.filter(({ attempt }) => environmentError(attempt) === null)
  const strangers = looked.length - replayed.length
  return [
    ...broken(replayed),
    ...rubricErrors(
      sound.map(({ attempt }) => attempt),
      'replayed demonstration',
    ),
    ...(await unrewarded(proving, sound, strangers)),
    ...otherObservations(sound),
    ...unfinished(sound),
  ]
}

function broken(replayed: readonly Replayed[]): readonly Finding[] {
  const failed = replayed.flatMap(({ number, attempt }) => {
    const error = environmentError(attempt)
    return error === null ? [] : [`demonstration ${number}: ${quoted(error, 160)}`]
  })
  const [example] = failed
  if (example === undefined) return []
  const made = counted(failed.length, replayed.length, 'replayed demonstration', ['makes', 'make'])
  return [
    {
      severity: gravity(failed.length, replayed.length),
      code: 'learn/replay-broke',
      message: `${made} the environment fail. For example, ${example}.`,
      hint: 'Make the environment return an error message as an observation where an act is wrong, and mend what fails.',
      n: failed.length,
      of: replayed.length,
      example,
    },
  ]
}

/** Stops only where most earn little and chance has no part in it: a reward with costs is rarely earned in full. */
async function unrewarded(
  proving: Proving,
  sound: readonly Replayed[],
  strangers: number,
): Promise<readonly Finding[]> {
  const { reward } = proving
  const judged = sound.filter(({ attempt }) => solved(attempt, reward) !== null)
  const failed = judged.filter(({ attempt }) => solved(attempt, reward) === false)
  const midway = (reward.floor + reward.ceiling) / 2
  const clearly = failed.filter(({ attempt }) => (earned(attempt) ?? 0) <= midway)
  const first = clearly[0] ?? failed[0]
  if (first === undefined) return []
  const seeded = await untilTimeIsUp(proving, clearly.slice(0, secondLooks), (one) => hangsOnSeed(proving, one))
  const chance = seeded.includes(true)
  const example = `demonstration ${first.number} earns ${earned(first.attempt)} of ${reward.ceiling}${reasonOf(first)}`
  const beside = strangers === 0 ? '' : ` ${strangers} more are about no training task and were not played.`
  return [
    {
      severity: chance ? 'warn' : gravity(clearly.length, judged.length),
      code: 'learn/unrewarded-demonstration',
      message: `${counted(failed.length, judged.length, 'replayed demonstration', ['does not', 'do not'])} earn the whole reward. For example, ${example}.${beside}`,
      hint: chance
        ? 'The environment answers otherwise under another seed: see whether the demonstrations suit it at all.'
        : 'Correct the demonstrations or the reward: one teaches what the other does not pay for.',
      n: failed.length,
      of: judged.length,
      example,
    },
  ]
}

function reasonOf({ attempt: { reward } }: Replayed): string {
  return reward?.status === 'vetoed' ? ` (the guard ${quoted(reward.guard)} says: ${quoted(reward.reason)})` : ''
}

function otherObservations(sound: readonly Replayed[]): readonly Finding[] {
  const others = sound.flatMap(({ number, other }) =>
    other === null
      ? []
      : [
          `demonstration ${number} shows ${quoted(other.shown)} where the environment returns ${quoted(other.returned)}`,
        ],
  )
  const [example] = others
  if (example === undefined) return []
  const show = counted(others.length, sound.length, 'replayed demonstration', ['shows', 'show'])
  return [
    {
      severity: 'warn',
      code: 'learn/other-observations',
      message: `${show} results that the environment does not give. For example, ${example}.`,
      hint: 'Write results as the environment gives them: the agent will read those.',
      n: others.length,
      of: sound.length,
      example,
    },
  ]
}

function unfinished(sound: readonly Replayed[]): readonly Finding[] {
  const open = sound.filter(({ attempt }) => !attempt.done)
  const [first] = open
  if (first === undefined) return []
  const example = `demonstration ${first.number}, after ${first.attempt.observations.length} acts`
  return [
    {
      severity: 'warn',
      code: 'learn/unfinished-demonstration',
      message: `${counted(open.length, sound.length, 'replayed demonstration', ['ends', 'end'])} before the environment says that the episode is done. For example, ${example}.`,
      hint: 'Demonstrate the action that ends the task, or let the environment end there. Otherwise an agent acts until its budget is spent.',
      n: open.length,
      of: sound.length,
      example,
    },
  ]
}
