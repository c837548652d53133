import { isRefusal, type LearnableTask } from '../../core/index.ts'
import { earned, environmentError, type Proving, solved, untilTimeIsUp } from './attempt.ts'
import { acts, type WrittenDemonstration, turnsOf } from './written-demonstration.ts'
import { counted, type Finding, gravity, quoted, spread } from './finding.ts'
import { hangsOnSeed, type Replayed, replayer } from './replay.ts'
import { rubricErrors } from './rubric-findings.ts'
import type { PlayedDemonstration } from './played-demonstration.ts'
import { successThreshold } from './success-threshold.ts'

/** Demonstrations that are played again, at most. */
const mostReplays = 32

/** What replays of demonstrations came to. */
export interface Replays {
  readonly findings: readonly Finding[]
  /**
   * Those that earn half of the reward or less, under either of two seeds, while the environment answers as they show; by
   * their place from 0.
   */
  readonly unearned: readonly number[]
  /** What the others came to. */
  readonly played: readonly PlayedDemonstration[]
}

/**
 * Plays demonstrations of training tasks again, act by act, in fresh episodes: whether they earn the reward, whether the
 * environment answers as they show, and whether it ends where they do. 32 of them, evenly spread, and all where one of those
 * earns little. Those that are about no task of `tasks` are not played and only counted.
 * @throws the signal's reason when it aborts.
 */
export async function replayDemonstrations({
  demonstrations,
  tasks,
  ...proving
}: Proving & {
  readonly demonstrations: readonly WrittenDemonstration[]
  readonly tasks: readonly LearnableTask[]
}): Promise<Replays> {
  const numbered = demonstrations.map((one, i) => ({ ...one, number: i + 1 }))
  const active = numbered.filter(({ messages }) => turnsOf(messages).some(acts))
  const some = spread(active, mostReplays)
  const play = replayer(proving, tasks)
  const first = await untilTimeIsUp(proving, some, play)
  const rest = first.some((one) => one !== null && earnsLittle(one, proving))
    ? active.filter((one) => !some.includes(one))
    : []
  const looked = [...first, ...(await untilTimeIsUp(proving, rest, play))]
  const replayed = looked.filter((one) => one !== null).toSorted((a, b) => a.number - b.number)
  const sound = replayed.filter(({ attempt }) => environmentError(attempt) === null)
  const little = sound.filter((one) => earnsLittle(one, proving))
  const hung = await untilTimeIsUp(proving, little, (one) => hangsOnSeed(proving, one))
  const certain = little.filter((_, i) => hung[i] !== true)
  const unearned = little.filter(({ other }, i) => other === null && hung[i] === false)
  const strangers = looked.length - replayed.length
  const played = sound
    .filter((one) => !unearned.includes(one))
    .map(({ number, attempt }) => ({
      number,
      refusedCalls: attempt.observations.flat().filter(isRefusal).length,
      reward: earned(attempt),
    }))
  const { threshold = successThreshold(played, proving.reward.ceiling) } = proving
  return {
    findings: [
      ...broken(replayed),
      ...rubricErrors(
        sound.map(({ attempt }) => attempt),
        'replayed demonstration',
      ),
      ...unrewarded({ ...proving, threshold }, { sound, little, certain, unearned, strangers }),
      ...otherObservations(sound),
      ...unfinished(sound),
    ],
    unearned: unearned.map(({ number }) => number - 1),
    played,
  }
}

/** Whether it earns half of the reward or less: one with costs is rarely earned in full. */
function earnsLittle({ attempt }: Replayed, proving: Proving): boolean {
  const { reward } = proving
  if (environmentError(attempt) !== null || solved(attempt, proving) !== false) return false
  return (earned(attempt) ?? 0) <= (reward.floor + reward.ceiling) / 2
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

/** Stops only where most earn little whatever the seed. */
function unrewarded(proving: Proving, { sound, little, certain, unearned, strangers }: Earnings): readonly Finding[] {
  const { reward } = proving
  const judged = sound.filter(({ attempt }) => solved(attempt, proving) !== null)
  const failed = judged.filter(({ attempt }) => solved(attempt, proving) === false)
  const first = little[0] ?? failed[0]
  if (first === undefined) return []
  const severity = gravity(certain.length, judged.length)
  const example = `demonstration ${first.number} earns ${earned(first.attempt)} of ${reward.ceiling}${reasonOf(first)}`
  const dropped =
    severity === 'stop' || unearned.length === 0 ? '' : ` Not imitated: ${unearned.length}, which earn half or less.`
  const beside = strangers === 0 ? '' : ` ${strangers} more are about no training task and were not played.`
  return [
    {
      severity,
      code: 'learn/unrewarded-demonstration',
      message: `${counted(failed.length, judged.length, 'replayed demonstration', ['does not', 'do not'])} earn the whole reward. For example, ${example}.${dropped}${beside}`,
      hint:
        certain.length < little.length
          ? 'The environment answers otherwise under another seed: see whether the demonstrations suit it at all.'
          : 'Correct the demonstrations or the reward: one teaches what the other does not pay for.',
      n: failed.length,
      of: judged.length,
      example,
    },
  ]
}

/** What demonstrations earned that were played again. */
interface Earnings {
  readonly sound: readonly Replayed[]
  /** Those of them that earn half of the reward or less. */
  readonly little: readonly Replayed[]
  /** Those of them that earn as much under another seed, as far as that was tried. */
  readonly certain: readonly Replayed[]
  /** Those that are not to be imitated. */
  readonly unearned: readonly Replayed[]
  /** How many are about no training task. */
  readonly strangers: number
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
