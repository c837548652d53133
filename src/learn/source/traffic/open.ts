import type { Agent } from '../../../agent/index.ts'
import { agentKey, parseInput } from '../../../core/index.ts'
import { valueBaseline } from '../../../credit/index.ts'
import { policyGradient } from '../../../optimize/weights/index.ts'
import { LearnError } from '../../errors.ts'
import type { Complete, TrafficOptions } from '../../options.ts'
import { type ReleasePlan, shadow } from '../../release-plan.ts'
import type { Course, Learning } from '../../run/course.ts'
import { openRun } from '../../run/open.ts'
import { noModel } from '../../run/no-model.ts'
import { soleOptimizer, whatLearns } from '../../run/parameter.ts'
import type { TrainerNeeds } from '../../run/trainer-needs.ts'
import { firstOfEachTier } from '../../holdout.ts'
import { collect } from './collect.ts'
import { imitate, prefer } from './imitate.ts'
import { measureSuites } from './measure.ts'
import { practise } from './practise.ts'
import { anchor } from './rehearsal.ts'
import { step } from './step.ts'
import { TrafficSchedule } from './schedule.ts'
import { TrafficRun } from './traffic-run.ts'
import { refuseStrangers } from './who-decides.ts'

/**
 * A run over traffic gathers what people did and said, lets what learns beside the weights take its step, holds on to what earlier runs need, practises while its samples are
 * fresh, and then imitates and prefers what people showed.
 */
const learnings: readonly Learning<TrafficRun>[] = [
  { name: 'gather', learn: collect },
  { name: 'step', learn: step },
  { name: 'anchor', learn: anchor },
  { name: 'practise', learn: practise },
  { name: 'imitate', learn: imitate },
  { name: 'prefer', learn: prefer },
]

/** Those that a run needs for what learns in it. */
function learningsOf(agent: Agent, options: Complete<TrafficOptions>): readonly Learning<TrafficRun>[] {
  const { trained, learners } = whatLearns(agent, options)
  return learnings.filter(({ name }) => name === 'gather' || (name === 'step' ? learners.length > 0 : trained !== null))
}

/** Opens a run over traffic. */
export async function openTraffic(agent: Agent, given: TrafficOptions): Promise<Course<TrafficRun>> {
  const options: Complete<TrafficOptions> = {
    ...given,
    model: given.model ?? noModel,
    credit: given.credit ?? valueBaseline(),
    optimize: given.optimize ?? soleOptimizer(agent, policyGradient()),
    release: given.release ?? shadow(),
  }
  const schedule = parseInput(TrafficSchedule, options.schedule ?? {}, 'the schedule')
  refuseIncomplete(agent, options)
  const { source } = options
  return openRun<TrafficOptions, TrafficRun>(agent, options, {
    learnings: learningsOf(agent, options),
    measure: measureSuites,
    key: agentKey(source.tenant, agent.name),
    config: configOf(options),
    needs: needsOf(agent, options, schedule),
    holdout: source.evaluation === null ? [] : firstOfEachTier(source.evaluation.holdout, schedule.holdoutTasks),
    guarded: { guarded: source.evaluation?.holdout ?? [], known: [] },
    open: (parts) => new TrafficRun(parts, schedule),
    started: ({ state }, resumed) => ({ resumedAt: resumed ? (state.learning ?? state.phase) : null }),
  })
}

/** What a run over traffic asks of its trainer. Preferences are learned by cross-entropy, too. */
function needsOf(agent: Agent, options: Complete<TrafficOptions>, schedule: TrafficSchedule): TrainerNeeds {
  const { trained } = whatLearns(agent, options)
  if (trained === null) return { losses: [], temperature: null }
  const { losses = [] } = trained.optimizer
  const shown = schedule.demonstrationPasses + schedule.preferencePasses > 0
  return {
    losses: [...(schedule.epochs > 0 ? losses : []), ...(shown ? (['cross_entropy'] as const) : [])],
    temperature: null,
    anchorsFor: schedule.anchor > 0 ? ['schedule.anchor'] : [],
  }
}

/** What tells a run of traffic from others, and what it was told to do. */
function configOf({ source, release }: Complete<TrafficOptions>) {
  const { agent, tenant, window, settle, maxLag, limit, evaluation, suites } = source
  return {
    source: 'traffic',
    traffic: { agent, tenant, window, settle, maxLag, limit },
    mode: modeOf(release),
    evidence: evaluation === null ? 'canary-only' : 'held-out',
    suites: Object.keys(suites),
  }
}

const modeOf = (release: ReleasePlan): string =>
  release.kind === 'canary' && release.promotes === 'gate' ? 'automatic' : release.kind

function refuseIncomplete(agent: Agent, { source, release, gate }: Complete<TrafficOptions>): void {
  if (source.agent !== agent.name) {
    throw new LearnError({
      code: 'learn/other-traffic',
      message: `The traffic is of the agent "${source.agent}", and "${agent.name}" is to learn from it.`,
      hint: 'Name the agent as its clients do, in both places.',
    })
  }
  if (source.evaluation === null && Object.keys(source.suites).length > 0) {
    throw new LearnError({
      code: 'learn/suites-without-evaluation',
      message: 'There are suites of what was learned before, and no held-out tasks of what is learned now.',
      hint: 'Give `evaluation` as well: one gate judges both.',
    })
  }
  if (source.evaluation !== null && !gate) {
    throw new LearnError({
      code: 'learn/no-gate',
      message: 'The traffic comes with held-out tasks, and no gate judges by them.',
      hint: 'Give `gate`, with limits for exactly the suites of the source.',
    })
  }
  if (source.evaluation === null && release.kind === 'direct') {
    throw new LearnError({
      code: 'learn/no-evidence',
      message: 'A candidate is to serve everybody at once, and no held-out tasks judge it.',
      hint: 'Give the traffic an `evaluation`, or release by canary.',
    })
  }
  if (release.kind === 'canary' && release.promotes === 'gate') refuseStrangers(source.reporters)
}
