import type { LearnableTask, Message } from '../../core/index.ts'
import { type Attempt, attempt, earned, environmentError, type Proving, solved } from './attempt.ts'
import { acts, type WrittenDemonstration, type ShownTurn, turnsOf } from './written-demonstration.ts'
import { firstUserMessage, knownTasks } from './known-tasks.ts'

/** A demonstration that was played again in the task that it is about. */
export interface Replayed {
  /** Its number among all demonstrations, from 1. */
  readonly number: number
  readonly task: LearnableTask
  readonly turns: readonly ShownTurn[]
  readonly attempt: Attempt
  /** The first observation that is not as shown. */
  readonly other: Difference | null
}

/** What a demonstration shows, and what the environment returns. */
export interface Difference {
  readonly shown: string
  readonly returned: string
}

/** A demonstration with its number among all, from 1. */
export interface NumberedDemonstration extends WrittenDemonstration {
  readonly number: number
}

/** Plays a demonstration in the tasks that it may be about, until one is solved; `null` when it is about none of them. */
export function replayer(
  proving: Proving,
  tasks: readonly LearnableTask[],
): (demonstration: NumberedDemonstration) => Promise<Replayed | null> {
  const candidatesOf = knownTasks(tasks)
  return async (demonstration) => {
    const { number, messages } = demonstration
    const turns = turnsOf(messages)
    if (!turns.some(acts)) return null
    let replayed: Replayed | null = null
    for (const { task, certain } of candidatesOf(demonstration)) {
      const played = await attempt(proving, task, turns)
      const opening = firstUserMessage(played.trajectory.nodes.map(({ message }) => message))
      if (!certain && environmentError(played) === null && opening !== firstUserMessage(messages)) continue
      replayed ??= { number, task, turns, attempt: played, other: differenceOf(turns, played) }
      if (solved(played, proving) === true) {
        return { number, task, turns, attempt: played, other: differenceOf(turns, played) }
      }
    }
    return replayed
  }
}

/** Whether the same acts come to something else under another seed: then a replay proves nothing against them. */
export async function hangsOnSeed(proving: Proving, { task, turns, attempt: first }: Replayed): Promise<boolean> {
  const again = await attempt(proving, task, turns, 1)
  return (
    earned(again) !== earned(first) || contentsOf(again.observations.flat()) !== contentsOf(first.observations.flat())
  )
}

/** Compares act by act; a demonstration may leave out what follows its last act. */
function differenceOf(turns: readonly ShownTurn[], { observations }: Attempt): Difference | null {
  const played = turns.filter(({ action }) => action !== null).slice(0, observations.length)
  for (const [i, turn] of played.entries()) {
    const last = turn === turns.at(-1)
    if (last && turn.observations.length === 0) continue
    const [shown, returned] = [turn.observations, observations[i] ?? []]
    if (contentsOf(shown) === contentsOf(returned)) continue
    const at = shown.findIndex((message, j) => contentsOf([message]) !== contentsOf(returned.slice(j, j + 1)))
    const where = at === -1 ? shown.length : at
    return { shown: shown[where]?.content ?? '', returned: returned[where]?.content ?? '' }
  }
  return null
}

const contentsOf = (messages: readonly Message[]): string =>
  JSON.stringify(messages.map(({ role, content }) => [role, content]))
