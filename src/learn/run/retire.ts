import { z } from 'zod'
import { type Agent, asWeightsDefinition, initialVersions } from '../../agent/index.ts'
import { type HoldoutUse, ParameterName, type Rubric, type Run, type Version } from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import { type Gate, levelOfUse, tasksToRetire } from '../../gate/index.ts'
import { percentOf } from '../../release/index.ts'
import { LearnError } from '../errors.ts'
import type { Complete, LearnOptions } from '../options.ts'
import type { LearnRun } from './learn-run.ts'
import { cannotRetire, type Retired } from './parameter.ts'

/** The only stage of a run that retires a Parameter: its candidate is what the agent declares. */
export const retireStage = {
  name: 'retire',
  async learn(run: LearnRun): Promise<void> {
    const { parameter } = present(run.retired, 'what the run retires')
    const declared = initialVersions(run.agent, (_, name) => run.modelOf(name).baseHash).get(parameter)
    const { value } = present(declared, `the declared value of ${parameter}`)
    run.state = { ...run.state, proposed: { [parameter]: value } }
  },
}

/**
 * Holds that held-out tasks alone decide.
 * @throws LearnError for a canary, which looks for a gain among people; and for traffic without held-out tasks.
 */
export function refuseUnjudged({ source, release }: Pick<Complete<LearnOptions>, 'source' | 'release'>): void {
  if (release.kind === 'canary') {
    throw cannotRetire(
      'A Parameter is to be retired by a canary, which looks for a gain; held-out tasks show that less than the margin is lost.',
      'Release it by `direct()`; or keep it with `shadow()`, and begin a canary of your own with `ratchet try RUN`.',
    )
  }
  if (source.kind === 'traffic' && source.evaluation === null) {
    throw cannotRetire(
      'A Parameter is to be retired, and the traffic has no held-out tasks that could show what is lost.',
      'Give the traffic an `evaluation`, or retire it over `rollouts`.',
    )
  }
}

/** The gate that judges a run's candidate: where one is retired, by what may be lost and among what it was picked. */
export function judgingGate(run: LearnRun, { floor, ceiling }: Pick<Rubric, 'floor' | 'ceiling'>): Gate {
  const gate = present(run.options.gate, 'the gate')
  if (run.retired === null) return gate
  const { parameter, loss } = run.retired
  return gate.retiring({ parameter, loss: loss * (ceiling - floor), of: retirable(run.agent) })
}

/** Parameters of an agent that can be retired. */
const retirable = ({ parameters }: Agent): number =>
  Object.values(parameters).filter((definition) => asWeightsDefinition(definition) === null).length

/** Tells where so few tasks judge a retirement that it cannot be shown though nothing is lost. */
export function tellFewTasks(run: LearnRun, use: HoldoutUse, tasks: number): void {
  if (run.retired === null) return
  const { parameter, loss } = run.retired
  const needed = tasksToRetire(loss, levelOfUse({ retiring: { parameter, of: retirable(run.agent) } }, use))
  if (tasks >= needed) return
  run.emit({
    type: 'found',
    severity: 'warn',
    code: 'learn/few-tasks',
    message: `${tasks} held-out tasks judge what is retired: where all go alike without it, ${needed} would show that less than ${percentOf(loss)} is lost.`,
    hint: 'Hold out more tasks, and ones that no run was judged on; or let more be lost: retire({ loss: 0.1 }).',
    n: tasks,
    of: needed,
    example: null,
  })
}

/** What a receipt says of a retirement beside what was shown; nothing of another candidate. */
export async function retirementInWords(run: LearnRun): Promise<readonly string[]> {
  if (run.retired === null) return []
  const { parameter, loss } = run.retired
  const own = `It gives up what "${parameter}" learned: the value that the agent declares serves in its place, and up to ${percentOf(loss)} of the range of rewards may be lost by that.`
  const { key, options } = run
  const runs = await options.store.runs.list({ agent: key, limit: mostRuns })
  const earlier = runs.flatMap(({ id, release, config }) => {
    const kept = release === null || id === run.run.id ? null : Kept.parse(config).retires
    return kept ?? []
  })
  if (earlier.length === 0) return [own]
  const lost = earlier.reduce((sum, one) => sum + one.loss, 0)
  return [
    own,
    `The agent's ${earlier.length === 1 ? 'earlier retirement' : `${earlier.length} earlier retirements`} may have lost up to ${percentOf(lost)} more: each is compared with what served then.`,
  ]
}

/** Runs of the agent that are looked through for earlier retirements: the newest. */
const mostRuns = 1_000

/** What a run's configuration keeps of what it retires. */
const Kept = z.object({ retires: z.object({ parameter: ParameterName, loss: z.number() }).nullable().catch(null) })

/** What a run's configuration keeps of it. */
export const retiresOf = (retired: Retired | null) =>
  retired === null ? {} : { retires: { parameter: retired.parameter, loss: retired.loss } }

/**
 * Holds that a run is gone on with as what it began as: a candidate that was to show a gain is not judged by what may be lost.
 * @throws LearnError when they differ.
 */
export function refuseOtherRetirement({ id, config }: Pick<Run, 'id' | 'config'>, retired: Retired | null): void {
  const before = Kept.parse(config).retires
  if (before?.parameter === retired?.parameter && before?.loss === retired?.loss) return
  const told = (one: { readonly parameter: string; readonly loss: number } | null) =>
    one === null ? 'learn' : `retire "${one.parameter}" where less than ${percentOf(one.loss)} is lost`
  throw new LearnError({
    code: 'learn/other-retirement',
    message: `Run "${id}" began to ${told(before)}, and is to go on to ${told(retired)}.`,
    hint: 'Resume it with the `optimize` that it began with, or begin a new run.',
  })
}

/** @throws LearnError where the value that serves is the one that the agent declares: no holdout is used for nothing. */
export function refuseNothingToRetire(
  retired: Retired | null,
  declared: ReadonlyMap<ParameterName, Version>,
  serving: ReadonlyMap<string, Version>,
): void {
  if (retired === null) return
  const { parameter } = retired
  if (declared.get(parameter)?.id !== serving.get(parameter)?.id) return
  throw new LearnError({
    code: 'learn/nothing-to-retire',
    message: `"${parameter}" is to be retired, and what serves is what the agent declares.`,
    hint: 'Do nothing: it has learned nothing that serves, or was retired before.',
  })
}
