import { agentKey } from '../../core/index.ts'
import { InputError } from '../../errors/index.ts'
import { gatewayLogger } from '../../gateway/index.ts'
import { startLearner, trafficLearner } from '../../learn/index.ts'
import { openStore } from '../../store/index.ts'
import { humanLog } from '../serve/human-log.ts'
import { locationOf, type StoreFlags } from '../with-store.ts'
import { learnerEvents } from './learner-events.ts'
import { type LearnerFlags, learnerPlan } from './learner-plan.ts'
import { modelOf } from './learners.ts'
import { openJudge } from './open-judge.ts'
import { problemLog } from './problem-log.ts'

/**
 * `ratchet learn --every`: learns from an agent's traffic again and again, until it is asked to stop; then the run under
 * way ends at its next checkpoint, and the next learner goes on with it. A gateway on another process needs a store that
 * both may write: PostgreSQL.
 */
export async function learnerCommand(flags: LearnerFlags & StoreFlags): Promise<void> {
  const { model, ...plan } = await learnerPlan(flags)
  const { agent, tenant, config } = plan
  if (model === null && Object.keys(plan.optimize).length === 0) throw nothingTrains(agent.name)
  const store = await openStore(locationOf(flags))
  try {
    if (flags.json !== true) {
      process.stdout.write(`Ratchet learns from the traffic of "${agentKey(tenant, agent.name)}" · ${config.mode}\n`)
    }
    const openModel = () => modelOf(model)
    const onEvent = learnerEvents(flags.json === true)
    const onProblem = problemLog(gatewayLogger(flags.json ? {} : { destination: humanLog(process.stdout) }))
    const opened = openJudge(config)
    const { judge } = opened
    const learner = startLearner(
      trafficLearner({ ...plan, store, openModel, onEvent, onProblem, ...(judge && { judge }) }),
    )
    const stop = () => {
      for (const signal of stopSignals) process.once(signal, () => process.exit(1))
      void learner.stop()
    }
    for (const signal of stopSignals) process.once(signal, stop)
    await learner.done
    await opened.close()
    for (const signal of stopSignals) process.removeAllListeners(signal)
  } finally {
    await store.close()
  }
}

const stopSignals = ['SIGINT', 'SIGTERM'] as const

const nothingTrains = (agent: string) =>
  new InputError({
    code: 'input/not-trainable',
    message: `The section "learn" of "${agent}" says that nothing trains it ("trainer": "none").`,
    hint: 'The gateway watches its canaries: run `ratchet serve` with this configuration.',
  })
