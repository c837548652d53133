import type { Agent } from '../agent/index.ts'
import { type Run, type TrainingMethod, type Version, VersionId } from '../core/index.ts'
import { present } from '../errors/index.ts'
import { Registry } from '../release/index.ts'
import { LearnError } from './errors.ts'
import { freshState, initialVersions, LearningRun, learningParameter, newRunId, scheduleOf } from './learning-run.ts'
import type { LearnOptions } from './options.ts'
import { LearnState } from './state.ts'

/** Low-rank adaptation of every projection of attention and MLP. */
export function methodOf(agent: Agent, options: LearnOptions): TrainingMethod {
  if (options.method) return options.method
  const definition = agent.parameters[learningParameter(agent, options).parameter]
  const rank = definition?.kind === 'weights' ? definition.rank : 16
  return { kind: 'lora', rank, alpha: 2 * rank }
}

/** Opens a new run, or an earlier one at its last checkpoint. */
export async function openRun(agent: Agent, options: LearnOptions): Promise<LearningRun> {
  const schedule = scheduleOf(options)
  const { store, model, seed = 0, deterministic = false } = options
  const registry = new Registry(store)
  const now = options.clock?.now() ?? Date.now()
  await registry.initial(agent.name, [...initialVersions(agent).values()])
  const serving = await servingVersions(registry, options, agent)

  const earlier = options.resume ? await resumable(options) : null
  const versionsIn = Object.fromEntries([...serving.versions].map(([name, { id }]) => [name, id]))
  const run: Run = earlier?.run ?? {
    id: newRunId(now),
    agent: agent.name,
    config: { ...options.config, deterministic },
    seed,
    status: 'running',
    versionsIn,
    versionsOut: null,
    receipt: null,
    release: null,
    failure: null,
    startedAt: now,
    endedAt: null,
  }
  if (earlier) await store.runs.update(run.id, { status: 'running', failure: null, endedAt: null })
  else await store.runs.create(run)

  const trainer = await model.trainer(methodOf(agent, options), seed)
  const checkpoint = earlier?.checkpoint ?? null
  if (checkpoint) {
    await trainer.loadState(await store.blobs.get(present(checkpoint.blobs.trainer, "the checkpoint's trainer state")))
  } else {
    const start = serving.versions.get(learningParameter(agent, options).parameter)?.value
    if (start?.kind === 'weights' && start.adapter !== null)
      await trainer.loadWeights(await store.blobs.get(start.adapter))
  }
  const state = checkpoint ? LearnState.parse(checkpoint.state) : freshState()
  const blobs = checkpoint?.blobs ?? {}
  const opened = new LearningRun({ agent, options, schedule, registry, run, trainer, serving, state, blobs })
  const resumedAt = checkpoint ? state.update : null
  opened.emit({ type: 'started', runId: run.id, agent: agent.name, seed, resumedAt })
  return opened
}

async function servingVersions(
  registry: Registry,
  { store, model }: LearnOptions,
  agent: Agent,
): Promise<LearningRun['serving']> {
  const { release, activation } = await registry.current(agent.name)
  const versions = new Map<string, Version>()
  for (const [name, id] of Object.entries(release.versions)) {
    const version = present(await store.versions.get(VersionId.parse(id)), `version ${id}`)
    if (version.value.kind === 'weights' && version.value.base !== model.base) {
      throw new LearnError({
        code: 'learn/other-base',
        message: `"${name}" serves on base "${version.value.base}", but the model given is "${model.base}".`,
        hint: `Learn on "${version.value.base}", or use another store for the new base.`,
      })
    }
    versions.set(name, version)
  }
  return { versions, generation: activation.generation }
}

async function resumable({ store, resume, seed = 0 }: LearnOptions) {
  const run = resume ? await store.runs.get(resume) : null
  if (!run) {
    throw new LearnError({
      code: 'learn/unknown-run',
      message: `There is no run "${resume}" in this store.`,
      hint: 'List the runs with `ratchet runs`.',
    })
  }
  if (run.status === 'completed') {
    throw new LearnError({
      code: 'learn/already-completed',
      message: `Run "${run.id}" has completed.`,
      hint: 'Start a new run with `ratchet learn`.',
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
