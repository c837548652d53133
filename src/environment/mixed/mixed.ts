import { z } from 'zod'
import { type Environment, type Episode, type FinalState, Json, type Task } from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import type { Check, Policy } from '../play.ts'
import type { WorldTasks } from '../world-tasks.ts'
import { MixedWorldError } from './mixed-world-error.ts'
import { taskAmong, taskInWorld, type TaskInWorld } from './world-of-task.ts'

/** One of several worlds, as `loadHouse()` and its like return it. */
export interface MixedWorld {
  readonly environment: Environment
  readonly tasks: readonly Task[] | WorldTasks
}

/** Where an episode in one of several worlds ended: which world, and what that one's own checker reads. */
export const MixedFinalState = z.strictObject({ world: z.string().min(1), state: Json })
export type MixedFinalState = z.infer<typeof MixedFinalState>

/** Several worlds as one. */
export interface Mixed<N extends string> {
  /** Opens each task in its own world, with that world's tools and observations. Its final state is a {@link MixedFinalState}. */
  readonly environment: Environment
  /** The tasks of all, world after world. Ids, tiers and families begin with the world's name: `house/short`. */
  readonly tasks: readonly Task[]
  /** The world that a task is of, and the task as it is there. */
  inWorld(task: Task): TaskInWorld<N>
  /** A policy that plays in each world as that one's own does: its expert, for demonstrations. */
  policy(policies: Readonly<Record<N, Policy>>): Policy
  /** A checker that asks the one of the world in which the episode ended. Its name holds theirs. */
  check(checks: Readonly<Record<N, Check>>): Check
}

const separator = '/'

/**
 * Puts several worlds together, so that one agent, and one adapter, learns in all of them at once: each world keeps its own
 * tools, observations, verifier, tiers and held-out tasks, and what decides is shared (after "Multi-Task Multi-Agent Shared
 * Layers are Universal Cognition of Multi-Agent Coordination", whose perception is learned per task; here it is what each
 * world shows).
 * @param worlds by the names that tasks, tiers and families of each begin with.
 * @throws MixedWorldError for no world, or a name that is empty or holds a slash.
 */
export function mixed<const N extends string>(worlds: Readonly<Record<N, MixedWorld>>): Mixed<N> {
  const entries = Object.entries<MixedWorld>(worlds) as [N, MixedWorld][]
  const names = entries.map(([name]) => name)
  refuseBadNames(names)
  const inWorld = (task: Task): TaskInWorld<N> => taskInWorld(names, task)
  return {
    environment: {
      name: names.join('+'),
      async open(given, seed, signal) {
        const { world, task } = inWorld(given)
        return within(world, await worlds[world].environment.open(task, seed, signal))
      },
    },
    tasks: entries.flatMap(([name, { tasks }]) => listed(tasks).map((task) => taskAmong(name, task))),
    inWorld,
    policy: (policies) => (episode, given) => {
      const { world, task } = inWorld(given)
      return policies[world](episode, task)
    },
    check(checks) {
      const check: Check = ({ state, counts }) => {
        const ended = MixedFinalState.safeParse(state)
        const world = names.find((name) => name === ended.data?.world)
        if (!ended.success || world === undefined) throw unknownEnd(names)
        return checks[world]({ state: ended.data.state, counts })
      }
      // A rubric is told from another by the names of its checkers.
      const name = names.map((world) => `${world}:${checks[world].name || 'check'}`).join('+')
      return Object.defineProperty(check, 'name', { value: name })
    },
  }
}

const listed = (tasks: MixedWorld['tasks']): readonly Task[] =>
  'train' in tasks ? [...tasks.train, ...tasks.validation, ...tasks.holdout] : tasks

/** An episode of a world that says at its end which world it was in. */
function within(world: string, episode: Episode): Episode {
  return {
    opening: episode.opening,
    tools: episode.tools,
    step: (action, signal) => episode.step(action, signal),
    async close(): Promise<FinalState> {
      const { state, counts } = await episode.close()
      return { state: { world, state }, counts }
    },
    ...(episode.fork && { fork: () => within(world, present(episode.fork?.(), 'a copy of the episode')) }),
  }
}

function refuseBadNames(names: readonly string[]): void {
  const bad = names.find((name) => name === '' || name.includes(separator))
  if (names.length > 0 && bad === undefined) return
  throw new MixedWorldError({
    code: 'environment/bad-world',
    message: bad === undefined ? 'There is no world to mix.' : `A world cannot be called ${JSON.stringify(bad)}.`,
    hint: `Name each world, without a "${separator}": mixed({ house: loadHouse(), forms: loadForms() }).`,
  })
}

const unknownEnd = (names: readonly string[]): MixedWorldError =>
  new MixedWorldError({
    code: 'environment/unknown-world',
    message: `An episode ended in none of the worlds ${names.join(', ')}.`,
    hint: 'Check the final states of the environment that mixed() returns.',
  })
