import type { Agent } from '../../agent/index.ts'
import { agentKey, parseInput, type Run, savedAt } from '../../core/index.ts'
import { nextUse } from '../../gate/index.ts'
import { Registry } from '../../release/index.ts'
import { LearnError } from '../errors.ts'
import { firstOfEachTier } from '../evaluate.ts'
import { initialVersions, learningParameter, newRunId } from '../learning-run.ts'
import {
  methodOf,
  refuseOtherBase,
  refuseOtherEngine,
  refuseSeveralWeights,
  resumable,
  servingVersions,
  startingTrainer,
  unlessFailed,
} from '../open-run.ts'
import { type TrafficLearnOptions, TrafficSchedule } from './options.ts'
import { initialTrafficState, TrafficState } from './state.ts'
import { refuseIncapable, type TrainerNeeds } from '../trainer-needs.ts'
import { TrafficRun } from './traffic-run.ts'
import { refuseStrangers } from './who-decides.ts'

/**
 * Opens a new run, or an earlier one at its last checkpoint.
 * @throws LearnError for pieces that do not go together.
 */
export async function openTrafficRun(agent: Agent, options: TrafficLearnOptions): Promise<TrafficRun> {
  const schedule = parseInput(TrafficSchedule, options.schedule ?? {}, 'the schedule')
  refuseIncomplete(agent, options)
  refuseStrangers(options.mode, options.reporters)
  refuseSeveralWeights(agent)
  refuseOtherEngine(agent, options)
  const { store, model, source, seed = 0 } = options
  const key = agentKey(source.tenant, agent.name)
  const { parameter } = learningParameter(agent, options)
  const now = options.clock?.now() ?? Date.now()
  const earlier = options.resume === undefined ? null : await resumable(key, options)
  await refuseOtherBase(key, options)
  if (!earlier) await refuseSpentHoldout(options)
  const registry = new Registry(store)
  await registry.initial(key, [...initialVersions(agent, model).values()], now)

  const serving = await servingVersions(registry, options, key, earlier?.run ?? null)
  const run: Run = earlier?.run ?? {
    id: newRunId(now),
    agent: key,
    config: { ...options.config, ...configOf(options) },
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
  const method = methodOf(agent, options)
  const checkpoint = earlier?.checkpoint ?? null
  const start = serving.versions.get(parameter)
  const trained = checkpoint?.blobs['trainer']
  const trainer = await (trained === undefined ? startingTrainer(options, method, start) : model.trainer(method, seed))
  return unlessFailed(trainer, async () => {
    refuseIncapable(trainer, needsOf(agent, options, schedule))
    if (trained !== undefined) await trainer.loadState(await savedAt(store.blobs, trained))
    await store.transaction(async (tx) => {
      await options.mayWrite?.(tx)
      if (earlier) await tx.runs.update(run.id, { status: 'running', failure: null, endedAt: null })
      else await tx.runs.create(run)
    })
    const state = checkpoint ? TrafficState.parse(checkpoint.state) : initialTrafficState
    const blobs = checkpoint?.blobs ?? {}
    const opened = new TrafficRun({ agent, options, schedule, registry, run, trainer, serving, state, blobs })
    const resumedAt = checkpoint ? state.phase : null
    opened.emit({ type: 'started', runId: run.id, agent: key, seed, resumedAt })
    await opened.checkpoint()
    return opened
  })
}

/**
 * Holds that the held-out tasks may be used once more, before a run uses up its evidence; spends nothing.
 * @throws HoldoutExhaustedError when they may not.
 */
async function refuseSpentHoldout({ source, evaluation, schedule, store }: TrafficLearnOptions): Promise<void> {
  if (source.evaluation === null || !evaluation) return
  const { holdoutTasks } = parseInput(TrafficSchedule, schedule ?? {}, 'the schedule')
  const tasks = firstOfEachTier(source.evaluation.holdout, holdoutTasks)
  nextUse(await store.ledger.uses(tasks.map(({ id }) => id)), evaluation.gate.alpha)
}

/** What a run over traffic asks of its trainer. Preferences are learned by cross-entropy, too. */
function needsOf(agent: Agent, options: TrafficLearnOptions, schedule: TrafficSchedule): TrainerNeeds {
  const { losses = [] } = learningParameter(agent, options).optimizer
  const shown = schedule.demonstrationPasses + schedule.preferencePasses > 0
  return {
    losses: [...(schedule.epochs > 0 ? losses : []), ...(shown ? (['cross_entropy'] as const) : [])],
    temperature: null,
    anchorsFor: schedule.anchor > 0 ? ['schedule.anchor'] : [],
  }
}

/** What tells a run of traffic from others, and what it was told to do. */
function configOf({ source, mode }: TrafficLearnOptions) {
  const { agent, tenant, window, settle, maxLag, limit, evaluation, suites } = source
  return {
    source: 'traffic',
    traffic: { agent, tenant, window, settle, maxLag, limit },
    mode,
    evidence: evaluation === null ? 'canary-only' : 'held-out',
    suites: Object.keys(suites),
  }
}

function refuseIncomplete(agent: Agent, options: TrafficLearnOptions): void {
  const { source, mode, canary, evaluation } = options
  if (source.agent !== agent.name) {
    throw new LearnError({
      code: 'learn/other-traffic',
      message: `The traffic is of the agent "${source.agent}", and "${agent.name}" is to learn from it.`,
      hint: 'Name the agent as its clients do, in both places.',
    })
  }
  if (mode !== 'shadow' && !canary) {
    throw new LearnError({
      code: 'learn/no-canary',
      message: `The mode is "${mode}", and there are no rules for a canary.`,
      hint: 'Give a canary gate, or learn in the mode "shadow".',
    })
  }
  if (!evaluation && (source.evaluation !== null || Object.keys(source.suites).length > 0)) {
    throw new LearnError({
      code: 'learn/no-evaluation',
      message: 'The traffic comes with held-out tasks, and nothing says who attempts them and what judges.',
      hint: 'Give `evaluation`: an agent with a program, a rubric and a gate.',
    })
  }
  if (source.evaluation === null && Object.keys(source.suites).length > 0) {
    throw new LearnError({
      code: 'learn/suites-without-evaluation',
      message: 'There are suites of what was learned before, and no held-out tasks of what is learned now.',
      hint: 'Give `evaluation` as well: one gate judges both.',
    })
  }
}
