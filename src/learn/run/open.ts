import { type Agent, initialVersions, type Models } from '../../agent/index.ts'
import {
  parseInput,
  RunId,
  type BlobRef,
  type HoldoutTask,
  leakCheck,
  type ParameterName,
  type Run,
  savedAt,
  type Trainer,
  type Version,
} from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import { nextUse } from '../../gate/index.ts'
import { Registry } from '../../release/index.ts'
import { LearnError } from '../errors.ts'
import type { Complete, LearnOptions, RunOptions } from '../options.ts'
import { refuseOtherBase, servingVersions } from './base.ts'
import type { Course } from './course.ts'
import { fail } from './fail.ts'
import type { LearnRun } from './learn-run.ts'
import { Learners } from './learners.ts'
import { methodOf, suffixOf, type Trained, whatLearns } from './parameter.ts'
import { refuseNothingToRetire, refuseOtherRetirement, retiresOf } from './retire.ts'
import { newRunId } from './run-id.ts'
import { refuseOtherTurns, turnsOf } from './turns.ts'
import type { Opening, Started } from './opening.ts'
import { newState } from './state.ts'
import { otherVersion, stateOf } from './earlier-state.ts'
import { fromTraffic } from './source-of.ts'
import { startingTrainer, unlessFailed } from './trainer.ts'
import { refuseIncapable, type TrainerNeeds } from './trainer-needs.ts'
import { refuseOtherEngine } from './engine.ts'

/**
 * Opens a new run, or an earlier one at its last checkpoint.
 * @param models what answers for each of the agent's weights.
 * @throws LearnError for pieces that do not go together: no run is begun, and none is changed.
 */
export async function openRun<O extends LearnOptions, R extends LearnRun<O>>(
  agent: Agent,
  models: Models,
  options: Complete<O>,
  opening: Opening<O, R>,
): Promise<Course<R>> {
  const { store, seed = 0 } = options
  const { key, stages, measure } = opening
  refuseOtherEngine(agent, models, options)
  const { trained, learners, retired } = whatLearns(agent, options)
  const earlier = options.resume === undefined ? null : await resumable(key, options)
  const checkpoint = earlier?.checkpoint ?? null
  const [first] = stages
  const names = trained.map(({ parameter }) => parameter)
  const state = checkpoint ? stateOf(checkpoint.state, names) : { ...newState(names), stage: first?.name ?? null }
  if (earlier && state.phase === 'learn') refuseOtherTurns(earlier.run, trained)
  if (earlier) refuseOtherRetirement(earlier.run, retired)
  if (state.phase === 'learn' && !stages.some(({ name }) => name === state.stage)) {
    throw otherVersion(`the stage "${state.stage}" is not known`)
  }
  await refuseOtherBase(key, models, options)
  if (!state.use) await refuseSpentHoldout(options, opening.holdout)

  const now = options.clock?.now() ?? Date.now()
  const registry = new Registry(store)
  const declared = initialVersions(agent, (_, parameter) => present(models.get(parameter), 'the model').baseHash)
  if (options.declares !== false) await registry.initial(key, [...declared.values()], now)
  const served = await servingVersions(registry, models, options, key, earlier?.run ?? null)
  // What serves may be of before a Parameter was declared.
  const added = [...declared].filter(([name]) => !served.versions.has(name))
  const serving = { ...served, versions: new Map([...served.versions, ...added]) }
  if (!earlier) refuseNothingToRetire(retired, declared, serving.versions)
  const run: Run = earlier?.run ?? {
    id: newRunId(now),
    agent: key,
    config: { ...options.config, ...opening.config, turns: turnsOf(trained), ...retiresOf(retired) },
    seed,
    status: 'running',
    versionsIn: Object.fromEntries([...serving.versions].map(([name, { id }]) => [name, id])),
    versionsOut: null,
    receipt: null,
    release: null,
    failure: null,
    startedAt: now,
    endedAt: null,
  }

  const trainers = await openTrainers(agent, models, options, {
    trained,
    needs: opening.needs,
    blobs: checkpoint?.blobs ?? {},
    serving: serving.versions,
  })
  return unlessFailed(allOf(trainers), async () => {
    const blobs = checkpoint?.blobs ?? {}
    const opened = opening.open({ agent, key, options, models, registry, run, trainers, serving, state, blobs })
    opened.learners = await Learners.open({
      learners: state.phase === 'learn' ? learners : [],
      serving: serving.versions,
      seed,
      saved: state.learners,
      blobs,
      attempt: opening.attempt?.(opened) ?? null,
      tasks: opening.tasks ?? [],
      // To read all tasks takes time, which a run without learners has no use for.
      ...(learners.length > 0 && opening.guarded && { leaks: leakCheck(opening.guarded) }),
    })
    return unlessFailed(opened.learners, async () => {
      await store.transaction(async (tx) => {
        await options.mayWrite?.(tx)
        if (earlier) await tx.runs.update(run.id, { status: 'running', failure: null, endedAt: null })
        else await tx.runs.create(run)
      })
      await begin(opened, opening.started(opened, checkpoint !== null))
      return { run: opened, stages, measure }
    })
  })
}

/** Tells that a run begins, and makes it durable. */
async function begin(run: LearnRun, started: Pick<Started, 'resumedAt' | 'chosen'>): Promise<void> {
  const { id, agent, seed } = run.run
  try {
    run.emit({ type: 'started', runId: id, agent, seed, ...started })
    await run.checkpoint()
  } catch (error) {
    await fail(run, error)
    throw error
  }
}

/** What a run's trainers are opened with. */
interface Opened {
  readonly trained: readonly Trained[]
  readonly needs: (trained: Trained) => TrainerNeeds
  /** Of the last checkpoint. */
  readonly blobs: Readonly<Record<string, BlobRef>>
  readonly serving: ReadonlyMap<ParameterName, Version>
}

/** The run's trainers, each at its last checkpoint's state, or where learning begins; all of them, or none is left open. */
async function openTrainers(
  agent: Agent,
  models: Models,
  options: Complete<LearnOptions>,
  { trained, needs, blobs, serving }: Opened,
): Promise<ReadonlyMap<ParameterName, Trainer>> {
  const trainers = new Map<ParameterName, Trainer>()
  await unlessFailed(allOf(trainers), async () => {
    for (const one of trained) {
      const { parameter } = one
      const model = present(models.get(parameter), `the model of ${parameter}`)
      const method = methodOf(agent, options, parameter)
      const state = blobs[`trainer${suffixOf(parameter, trained)}`]
      const trainer = await (state === undefined
        ? startingTrainer(model, options, method, serving.get(parameter))
        : model.trainer(method, options.seed ?? 0))
      trainers.set(parameter, trainer)
      refuseIncapable(trainer, needs(one))
      if (state !== undefined) await trainer.loadState(await savedAt(options.store.blobs, state))
    }
  })
  return trainers
}

/** All of them, to be closed together. */
const allOf = (trainers: ReadonlyMap<ParameterName, Trainer>) => ({
  async close() {
    for (const trainer of trainers.values()) await trainer.close()
  },
})

/**
 * Holds that the held-out tasks may be used once more, before a run spends its time and its evidence; spends nothing.
 * @throws HoldoutExhaustedError when they may not.
 */
async function refuseSpentHoldout(
  { store, gate }: Pick<RunOptions, 'store' | 'gate'>,
  holdout: readonly HoldoutTask[],
): Promise<void> {
  if (!gate || holdout.length === 0) return
  nextUse(await store.ledger.uses(holdout.map(({ id }) => id)), gate.alpha)
}

/** The run to resume, with its last checkpoint. @param key what the agent's runs go by. */
async function resumable(
  key: string,
  { store, source, resume, seed = 0 }: Pick<RunOptions, 'store' | 'source' | 'resume' | 'seed'>,
) {
  const run = resume ? await store.runs.get(parseInput(RunId, resume, 'the run to resume')) : null
  if (!run) {
    throw new LearnError({
      code: 'learn/unknown-run',
      message: `There is no run "${resume}" in this store.`,
      hint: 'List the runs with `ratchet runs`.',
    })
  }
  if (run.agent !== key) {
    throw new LearnError({
      code: 'learn/other-agent',
      message: `Run "${run.id}" is of the agent "${run.agent}", not "${key}".`,
      hint: `Resume it with the agent "${run.agent}".`,
    })
  }
  if (fromTraffic(run) !== (source.kind === 'traffic')) {
    throw new LearnError({
      code: 'learn/other-source',
      message: `Run "${run.id}" learns from ${fromTraffic(run) ? 'traffic' : 'rollouts'}, not from ${source.kind}.`,
      hint: 'Resume it with the source that it began with.',
    })
  }
  if (run.seed !== seed) {
    throw new LearnError({
      code: 'learn/other-seed',
      message: `Run "${run.id}" began with seed ${run.seed}, not ${seed}.`,
      hint: `Resume it with seed ${run.seed}.`,
    })
  }
  return { run, checkpoint: await store.runs.latestCheckpoint(run.id) }
}
