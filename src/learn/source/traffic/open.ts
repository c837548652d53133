import { type Agent, modelsOf } from '../../../agent/index.ts'
import { agentKey, parseInput } from '../../../core/index.ts'
import { valueBaseline } from '../../../credit/index.ts'
import { policyGradient, type Turn } from '../../../optimize/weights/index.ts'
import { LearnError } from '../../errors.ts'
import type { Complete, TrafficOptions } from '../../options.ts'
import { type ReleasePlan, shadow } from '../../release-plan.ts'
import type { Course, Stage } from '../../run/course.ts'
import { openRun } from '../../run/open.ts'
import { givenModels, withJudges } from '../../run/judges.ts'
import { withoutModel } from '../../run/no-model.ts'
import { forAllWeights, suffixOf, type Trained, whatLearns } from '../../run/parameter.ts'
import { refuseUnjudged, retireStage } from '../../run/retire.ts'
import type { TrainedWeights } from '../../run/trained-weights.ts'
import type { TrainerNeeds } from '../../run/trainer-needs.ts'
import { someOfEachTier } from '../../holdout.ts'
import { collect } from './collect.ts'
import { conclude } from './conclude.ts'
import { imitate, prefer } from './imitate.ts'
import { measureSuites } from './measure.ts'
import { practise } from './practise.ts'
import { anchor } from './rehearsal.ts'
import { step } from './step.ts'
import { TrafficSchedule } from './schedule.ts'
import { TrafficRun } from './traffic-run.ts'
import { refuseStrangers } from './who-decides.ts'

/** A part of how weights learn from a batch. */
type Lesson = (run: TrafficRun, one: TrainedWeights<'candidate'>) => Promise<void>

/** What weights do with a batch, each in its turn: by default practice first, while the samples are fresh. */
const lessons: Readonly<Record<Turn, Lesson>> = { practise, imitate, prefer }

/**
 * A run over traffic gathers what people did and said, and lets what learns beside the weights take its step. The weights
 * hold on to what earlier runs need, and learn in the turns of their sequence; of several one after the other, each from what
 * it decided itself. The last turn ends by keeping what came of it.
 */
function stagesOf(agent: Agent, options: Complete<TrafficOptions>): readonly Stage<TrafficRun>[] {
  const { trained, learners, retired } = whatLearns(agent, options)
  if (retired) return [retireStage]
  const others = learners.length > 0 ? [{ name: 'step', learn: step }] : []
  return [{ name: 'gather', learn: collect }, ...others, ...trained.flatMap((one) => stagesOfWeights(one, trained))]
}

function stagesOfWeights(
  { parameter, plan: { turns } }: Trained,
  trained: readonly Trained[],
): readonly Stage<TrafficRun>[] {
  const stage = (name: string, learn: Lesson) => ({
    name: `${name}${suffixOf(parameter, trained)}`,
    learn: (run: TrafficRun) => learn(run, run.weightsOf(parameter)),
  })
  const last = turns.at(-1)
  const taught = turns.map((name) =>
    stage(name, async (run, one) => {
      await lessons[name](run, one)
      if (name === last) await conclude(run, one)
    }),
  )
  return [stage('anchor', anchor), ...taught]
}

/** Opens a run over traffic. */
export async function openTraffic(agent: Agent, given: TrafficOptions): Promise<Course<TrafficRun>> {
  const { weights, judge } = givenModels(agent, given)
  const options: Complete<TrafficOptions> = {
    ...given,
    credit: withJudges(given.credit ?? valueBaseline(), judge),
    optimize: given.optimize ?? forAllWeights(agent, policyGradient()),
    release: given.release ?? shadow(),
  }
  const schedule = parseInput(TrafficSchedule, options.schedule ?? {}, 'the schedule')
  refuseIncomplete(agent, options)
  const { trained, retired } = whatLearns(agent, options)
  for (const one of trained) refuseIdle(one, schedule)
  if (retired) refuseUnjudged(options)
  const { source } = options
  return openRun<TrafficOptions, TrafficRun>(agent, modelsOf(agent, weights, withoutModel), options, {
    stages: stagesOf(agent, options),
    measure: measureSuites,
    key: agentKey(source.tenant, agent.name),
    config: configOf(options),
    needs: (one) => needsOf(one, schedule),
    holdout: source.evaluation === null ? [] : someOfEachTier(source.evaluation.holdout, schedule.holdoutTasks),
    guarded: { guarded: source.evaluation?.holdout ?? [], known: [] },
    open: (parts) => new TrafficRun(parts, schedule),
    started: ({ state }, resumed) => ({ resumedAt: resumed ? (state.stage ?? state.phase) : null }),
  })
}

/** What a run over traffic asks of a trainer. */
function needsOf(
  { plan: { practice, imitation, preferring, anchoring } }: Trained,
  schedule: TrafficSchedule,
): TrainerNeeds {
  return {
    losses: [
      ...(schedule.epochs > 0 ? (practice?.losses ?? []) : []),
      ...(schedule.demonstrationPasses > 0 ? (imitation?.losses ?? []) : []),
      ...(schedule.preferencePasses > 0 ? (preferring?.losses ?? []) : []),
    ],
    temperature: null,
    anchorsFor: anchoring ? ['anchor()'] : schedule.anchor > 0 ? ['schedule.anchor'] : [],
    auxiliaryFor:
      (schedule.epochs > 0 && practice?.auxiliary) || (schedule.demonstrationPasses > 0 && imitation?.auxiliary)
        ? ['the option auxiliary']
        : [],
  }
}

/** @throws LearnError for a sequence that would move no weights whatever is gathered, as the schedule lets it do nothing. */
function refuseIdle({ parameter, plan }: Trained, schedule: TrafficSchedule): void {
  if (plan.turns.some((turn) => schedule[timesOf[turn]] > 0)) return
  const options = plan.turns.map((turn) => `schedule.${timesOf[turn]}`)
  throw new LearnError({
    code: 'learn/nothing-teaches',
    message: `Nothing is to move "${parameter}": ${options.join(', ')} ${options.length === 1 ? 'is' : 'are'} 0.`,
    hint: `Set ${options.join(' or ')}, or add imitate() or policyGradient() to the sequence.`,
  })
}

/** What of the schedule says how often a turn is taken. */
const timesOf = {
  practise: 'epochs',
  imitate: 'demonstrationPasses',
  prefer: 'preferencePasses',
} as const satisfies Readonly<Record<Turn, keyof TrafficSchedule>>

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
