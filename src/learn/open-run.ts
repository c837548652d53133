import { type Agent, type EpisodeBudget, parametersOfKind } from '../agent/index.ts'
import {
  type ModelService,
  type Run,
  type Store,
  type Trainer,
  type TrainingMethod,
  type Version,
  type VersionSet,
  savedAt,
} from '../core/index.ts'
import { present } from '../errors/index.ts'
import { Registry } from '../release/index.ts'
import { assertSameBase, otherBase } from './base.ts'
import { Demonstrations } from './demonstrations.ts'
import { LearnError } from './errors.ts'
import { initialVersions, LearningRun, learningParameter, newRunId, type ServingVersions } from './learning-run.ts'
import type { LearnOptions } from './options.ts'
import { budgetWith, type CompleteLearnOptions } from './recipe.ts'
import type { Schedule } from './schedule.ts'
import { scheduleOf } from './schedule-of.ts'
import { initialState, LearnState } from './state.ts'
import { refuseIncapable, type TrainerNeeds } from './trainer-needs.ts'

/** What is trained: what the options say, else a low-rank adapter of the Parameter's rank on every projection. */
export function methodOf(agent: Agent, options: Pick<CompleteLearnOptions, 'method' | 'optimize'>): TrainingMethod {
  if (options.method) return options.method
  const definition = agent.parameters[learningParameter(agent, options).parameter]
  const rank = definition?.kind === 'weights' ? definition.rank : 16
  return { kind: 'lora', rank, alpha: rank }
}

/** @throws LearnError when no policy call could be made: each would outgrow the model's context. */
function refuseLongTurns({ model }: Pick<LearnOptions, 'model'>, budget: EpisodeBudget): void {
  const { contextLength } = model.sampler.capabilities
  if (budget.tokensPerTurn < contextLength) return
  throw new LearnError({
    code: 'learn/turn-exceeds-context',
    message: `A turn may take ${budget.tokensPerTurn} tokens, and the model's context holds ${contextLength}.`,
    hint: 'Allow fewer tokens a turn (episode.tokensPerTurn).',
  })
}

/** Opens a new run, or an earlier one at its last checkpoint. */
export async function openRun(agent: Agent, options: CompleteLearnOptions): Promise<LearningRun> {
  const schedule = scheduleOf(options)
  const { store, model, seed = 0, deterministic = false } = options
  const registry = new Registry(store)
  const now = options.clock?.now() ?? Date.now()
  const method = methodOf(agent, options)
  refuseSeveralWeights(agent)
  refuseOtherEngine(agent, options)
  const earlier = options.resume ? await resumable(agent.name, options) : null
  await refuseOtherBase(agent.name, options)
  const demonstrations = await Demonstrations.read(options)
  const budget = budgetWith(options.budget ?? {}, demonstrations.given)
  refuseLongTurns(options, budget)
  await registry.initial(agent.name, [...initialVersions(agent, model).values()])

  const serving = await servingVersions(registry, options, agent.name, earlier?.run ?? null)
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

  const start = serving.versions.get(learningParameter(agent, options).parameter)
  const checkpoint = earlier?.checkpoint ?? null
  const trainer = await (checkpoint ? model.trainer(method, seed) : startingTrainer(options, method, start))
  return unlessFailed(trainer, async () => {
    refuseIncapable(trainer, needsOf(agent, options, schedule))
    if (checkpoint) {
      const trained = present(checkpoint.blobs.trainer, "the checkpoint's trainer state")
      await trainer.loadState(await savedAt(store.blobs, trained))
    }
    if (earlier) await store.runs.update(run.id, { status: 'running', failure: null, endedAt: null })
    else await store.runs.create(run)
    const state = checkpoint ? LearnState.parse(checkpoint.state) : initialState
    const blobs = checkpoint?.blobs ?? {}
    const opened = new LearningRun({
      agent,
      options,
      schedule: savesBytes(trainer) ? schedule : { ...schedule, averaging: 0 },
      budget,
      registry,
      run,
      trainer,
      serving,
      demonstrations,
      state,
      blobs,
    })
    const resumedAt = checkpoint ? state.update : null
    const chosen = {
      budget,
      families: opened.familySizes.size,
      demonstrations: demonstrations.given.length,
      names: demonstrations.augmenter.names,
    }
    opened.emit({ type: 'started', runId: run.id, agent: agent.name, seed, resumedAt, chosen })
    await opened.checkpoint()
    return opened
  })
}

const savesBytes = ({ capabilities }: Trainer) => capabilities.saves === 'bytes'

/** What a run over rollouts asks of its trainer. Where nobody asks for an average, one that cannot be had is left out. */
function needsOf(agent: Agent, options: CompleteLearnOptions, schedule: Schedule): TrainerNeeds {
  const { losses = [] } = learningParameter(agent, options).optimizer
  const imitates = options.prime !== undefined || schedule.imitation > 0
  return {
    losses: [...losses, ...(imitates ? (['cross_entropy'] as const) : [])],
    temperature: losses.length > 0 ? schedule.temperature : null,
    bytesFor: (options.schedule?.averaging ?? 0) > 0 ? ['schedule.averaging'] : [],
  }
}

/** A trainer that stands where learning begins: at the weights of a Version. */
export async function startingTrainer(
  { model, store, seed = 0 }: Pick<LearnOptions, 'model' | 'store' | 'seed'>,
  method: TrainingMethod,
  start: Version | undefined,
): Promise<Trainer> {
  const trainer = await model.trainer(method, seed)
  const adapter = start?.value.kind === 'weights' ? start.value.adapter : null
  return unlessFailed(trainer, async () => {
    if (adapter !== null) await trainer.loadWeights(await savedAt(store.blobs, adapter))
    return trainer
  })
}

/** Work that hands an open trainer on; where it fails, the trainer is closed. */
export async function unlessFailed<T>(trainer: Trainer, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    await trainer.close()
    throw error
  }
}

/** What serves; for an earlier run, what served when it began, whatever was released since. */
export async function servingVersions(
  registry: Registry,
  { store, model }: Pick<LearnOptions, 'store' | 'model'>,
  agent: string,
  earlier: Run | null,
): Promise<ServingVersions> {
  const { release, activation } = await registry.current(agent)
  const activations = await store.releases.activations(agent)
  const { generation } = activations.findLast(({ at }) => earlier !== null && at <= earlier.startedAt) ?? activation
  return { versions: await versionsOn(model, store, earlier?.versionsIn ?? release.versions), generation }
}

/** @throws LearnError when one of them is of another base than the model. */
async function versionsOn(model: ModelService, store: Store, set: VersionSet): Promise<ServingVersions['versions']> {
  const versions = new Map<string, Version>()
  for (const [name, id] of Object.entries(set)) {
    const version = present(await store.versions.get(id), `version ${id}`)
    if (version.value.kind === 'weights') assertSameBase(name, version.value, model)
    versions.set(name, version)
  }
  return versions
}

/** Holds that the agent began in this store on the model as it is now: all that it learned since rests on that. */
export async function refuseOtherBase(
  agent: string,
  { store, model }: Pick<LearnOptions, 'store' | 'model'>,
): Promise<void> {
  const [first] = await store.releases.activations(agent)
  const initial = first && (await store.releases.get(first.release))
  if (initial) await versionsOn(model, store, initial.versions)
}

/** One model service acts for one `weights` Parameter. */
export function refuseSeveralWeights(agent: Agent): void {
  const known = parametersOfKind(agent, 'weights')
  if (known.length <= 1) return
  throw new LearnError({
    code: 'learn/several-weights',
    message: `The agent "${agent.name}" has ${known.length} weights Parameters: ${known.map((name) => `"${name}"`).join(', ')}.`,
    hint: 'Give it one, and let it play every part: a run serves and trains one adapter.',
  })
}

/** Holds, before anything is written, that the model is the agent's, and can do what the mode promises. */
export function refuseOtherEngine(
  agent: Agent,
  { model, deterministic = false }: Pick<LearnOptions, 'model' | 'deterministic'>,
): void {
  for (const [name, definition] of Object.entries(agent.parameters)) {
    if (definition.kind === 'weights' && definition.base !== model.base) {
      throw otherBase(`"${name}" is declared on base "${definition.base}"`, definition.base, model.base)
    }
  }
  if (deterministic && !model.sampler.capabilities.deterministic) {
    throw new LearnError({
      code: 'learn/not-deterministic',
      message: `A deterministic run needs an engine that is deterministic, and "${model.base}" was not opened so.`,
      hint: 'Open the model with deterministic: true.',
    })
  }
}

/** The run to resume, with its last checkpoint. @param agent what the agent's runs go by. */
export async function resumable(
  agent: string,
  { store, resume, seed = 0 }: Pick<LearnOptions, 'store' | 'resume' | 'seed'>,
) {
  const run = resume ? await store.runs.get(resume) : null
  if (!run) {
    throw new LearnError({
      code: 'learn/unknown-run',
      message: `There is no run "${resume}" in this store.`,
      hint: 'List the runs with `ratchet runs`.',
    })
  }
  if (run.agent !== agent) {
    throw new LearnError({
      code: 'learn/other-agent',
      message: `Run "${run.id}" is of the agent "${run.agent}", not "${agent}".`,
      hint: `Resume it with the agent "${run.agent}".`,
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
