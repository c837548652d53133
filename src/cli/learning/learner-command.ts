import { agentKey } from '../../core/index.ts'
import { type LearnerEvent, startLearner, type TrafficEvent, trafficLearner } from '../../learn/index.ts'
import { openEmbeddedModel } from '../../model/index.ts'
import { openStore } from '../../store/index.ts'
import { locationOf, type StoreFlags } from '../with-store.ts'
import { learnerLine } from './learner-lines.ts'
import { type LearnerFlags, learnerPlan } from './learner-plan.ts'

/**
 * `ratchet learn --every`: learns from an agent's traffic again and again, until it is asked to stop; then the run under
 * way ends at its next checkpoint, and the next learner goes on with it. A gateway on another process needs a store that
 * both may write: PostgreSQL.
 */
export async function learnerCommand(flags: LearnerFlags & StoreFlags): Promise<void> {
  const { agent, tenant, config, model } = await learnerPlan(flags)
  const store = await openStore(locationOf(flags))
  try {
    const tell = (event: LearnerEvent | TrafficEvent) => say(flags.json === true, event)
    const openModel = async () => {
      const { service } = await openEmbeddedModel({ reference: model.model, renderer: model.renderer })
      return service
    }
    if (flags.json !== true) {
      process.stdout.write(`Ratchet learns from the traffic of "${agentKey(tenant, agent.name)}" · ${config.mode}\n`)
    }
    const learner = startLearner(trafficLearner({ agent, tenant, config, store, openModel, onEvent: tell }))
    const stop = () => {
      for (const signal of stopSignals) process.once(signal, () => process.exit(1))
      void learner.stop()
    }
    for (const signal of stopSignals) process.once(signal, stop)
    await learner.done
    for (const signal of stopSignals) process.removeAllListeners(signal)
  } finally {
    await store.close()
  }
}

const stopSignals = ['SIGINT', 'SIGTERM'] as const

function say(json: boolean, event: LearnerEvent | TrafficEvent): void {
  if (json) {
    if (event.type !== 'progress') process.stdout.write(`${JSON.stringify(event)}\n`)
    return
  }
  const line = learnerLine(event)
  if (line !== null) process.stdout.write(`${line}\n`)
}
