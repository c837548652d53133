import { agentKey, type CanaryId, type ModelService, type Store } from '../../core/index.ts'
import { InvariantError } from '../../errors/index.ts'
import { canaryLook, type LearnerEvent, startLearner, type LearnEvent, trafficLearner } from '../../learn/index.ts'
import type { Looked } from '../../release/index.ts'
import { openModel } from '../open-model.ts'
import { sayAside } from '../say-aside.ts'
import { keyOf } from '../serve/upstream-key.ts'
import { noCanaryRules } from './canary-rules.ts'
import type { LearnerPlan } from './learner-plan.ts'
import { openJudge } from './open-judge.ts'

/** Learners at work. */
export interface Learners {
  /** Ends their runs at the next checkpoint. */
  stop(): Promise<void>
}

/** Who is told of what learners do, and of what goes wrong. */
export interface Told {
  readonly onEvent: (event: LearnerEvent | LearnEvent) => void
  readonly onProblem: (error: unknown) => void
}

/** Starts a learner for each plan, on this process's store. */
export function startLearners(plans: readonly LearnerPlan[], store: Store, { onEvent, onProblem }: Told): Learners {
  const learners = plans.map(({ model, ...plan }) => {
    const opened = openJudge(plan.config)
    const { judge } = opened
    const parts = { ...plan, store, openModel: () => modelOf(model), onEvent, onProblem, ...(judge && { judge }) }
    return { learner: startLearner(trafficLearner(parts)), opened }
  })
  return {
    async stop() {
      await Promise.all(learners.map(({ learner }) => learner.stop()))
      await Promise.all(learners.map(({ opened }) => opened.close()))
    },
  }
}

/** A model of a learner's own, for one run: what serves keeps its threads and its memory, or its session at the server. */
export async function modelOf(model: LearnerPlan['model']): Promise<ModelService> {
  if (model === null) throw new InvariantError('a run began without a trainer')
  const apiKey = keyOf({ name: model.model, ...model }, process.env)
  return (await openModel(model, apiKey ? { apiKey } : {}, sayAside)).service
}

/**
 * What looks at a canary for whoever asks to promote it, by the rules of its agent.
 * @throws InputError for a canary of none of these agents.
 */
export function lookAt(plans: readonly LearnerPlan[], store: Store): (canary: CanaryId) => Promise<Looked> {
  const looks = new Map(
    plans.map(({ agent, tenant, config }) => [
      agentKey(tenant, agent.name),
      canaryLook({ store, tenant, config }, 'gate'),
    ]),
  )
  return async (id) => {
    const agent = (await store.canaries.get(id))?.agent ?? ''
    const look = looks.get(agent)
    if (look) return look(id)
    throw noCanaryRules(agent)
  }
}
