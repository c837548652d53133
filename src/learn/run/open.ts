import { type Agent, initialVersions } from '../../agent/index.ts'
import {
  type Checkpoint,
  type HoldoutTask,
  leakCheck,
  type Run,
  savedAt,
  type Trainer,
  type Version,
} from '../../core/index.ts'
import { nextUse } from '../../gate/index.ts'
import { Registry } from '../../release/index.ts'
import { LearnError } from '../errors.ts'
import type { Complete, LearnOptions, RunOptions } from '../options.ts'
import { refuseOtherBase, servingVersions } from './base.ts'
import type { Course } from './course.ts'
import { fail } from './fail.ts'
import type { LearnRun } from './learn-run.ts'
import { Learners } from './learners.ts'
import { methodOf, refuseSeveralWeights, whatLearns } from './parameter.ts'
import { newRunId } from './run-id.ts'
import { refuseOtherTurns, turnsOf } from './turns.ts'
import type { Opening, Started } from './opening.ts'
import { initialState } from './state.ts'
import { otherVersion, stateOf } from './earlier-state.ts'
import { fromTraffic } from './source-of.ts'
import { startingTrainer, unlessFailed } from './trainer.ts'
import { refuseIncapable } from './trainer-needs.ts'
import { refuseOtherEngine } from './engine.ts'

/**
 * Opens a new run, or an earlier one at its last checkpoint.
 * @throws LearnError for pieces that do not go together: no run is begun, and none is changed.
 */
export async function openRun<O extends LearnOptions, R extends LearnRun<O>>(
  agent: Agent,
  options: Complete<O>,
  opening: Opening<O, R>,
): Promise<Course<R>> {
  const { store, model, seed = 0 } = options
  const { key, stages, measure } = opening
  refuseSeveralWeights(agent)
  refuseOtherEngine(agent, options)
  const { trained, learners } = whatLearns(agent, options)
  const earlier = options.resume === undefined ? null : await resumable(key, options)
  const checkpoint = earlier?.checkpoint ?? null
  const [first] = stages
  const state = checkpoint ? stateOf(checkpoint.state) : { ...initialState, stage: first?.name ?? null }
  if (earlier && state.phase === 'learn') refuseOtherTurns(earlier.run, trained)
  if (state.phase === 'learn' && !stages.some(({ name }) => name === state.stage)) {
    throw otherVersion(`the stage "${state.stage}" is not known`)
  }
  await refuseOtherBase(key, options)
  if (!state.use) await refuseSpentHoldout(options, opening.holdout)

  const now = options.clock?.now() ?? Date.now()
  const registry = new Registry(store)
  const declared = initialVersions(agent, () => model.baseHash)
  await registry.initial(key, [...declared.values()], now)
  const served = await servingVersions(registry, options, key, earlier?.run ?? null)
  // What serves may be of before a Parameter was declared.
  const added = [...declared].filter(([name]) => !served.versions.has(name))
  const serving = { ...served, versions: new Map([...served.versions, ...added]) }
  const run: Run = earlier?.run ?? {
    id: newRunId(now),
    agent: key,
    config: { ...options.config, ...opening.config, turns: turnsOf(trained) },
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

  const trainer = trained && (await openTrainer(agent, options, checkpoint, serving.versions.get(trained.parameter)))
  return unlessFailed(trainer, async () => {
    if (trainer) refuseIncapable(trainer, opening.needs)
    const before = checkpoint?.blobs['trainer']
    if (trainer && before !== undefined) await trainer.loadState(await savedAt(store.blobs, before))
    const blobs = checkpoint?.blobs ?? {}
    const opened = opening.open({ agent, key, options, registry, run, trainer, serving, state, blobs })
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

/** The run's trainer: at its last checkpoint's state once that is loaded, or where learning begins. */
function openTrainer(
  agent: Agent,
  options: Complete<LearnOptions>,
  checkpoint: Checkpoint | null,
  start: Version | undefined,
): Promise<Trainer> {
  const method = methodOf(agent, options)
  if (checkpoint?.blobs['trainer'] === undefined) return startingTrainer(options, method, start)
  return options.model.trainer(method, options.seed ?? 0)
}

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
  const run = resume ? await store.runs.get(resume) : null
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
