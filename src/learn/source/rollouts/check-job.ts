import type { ToolDefinition } from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import { callSecondsOf } from '../../episodes.ts'
import { cannotLearn } from '../../errors.ts'
import { fewTasksFindings } from './few-tasks.ts'
import { judgingTasks } from './measure.ts'
import type { RolloutRun } from './rollout-run.ts'
import {
  demonstrationFindings,
  environmentFindings,
  type Finding,
  lostCalls,
  heldOutFindings,
  refusedFindings,
  replayDemonstrations,
  thresholdFindings,
  verifierFindings,
} from '../../preflight/index.ts'

/**
 * Looks for what keeps the job from being learned, before any training: in the environment, the demonstrations, what they
 * earn and the verifier. Everything that is found is told. Demonstrations that the reward does not pay for are not imitated.
 * @throws LearnError where training is of no use as the job is.
 */
export async function checkJob(run: RolloutRun): Promise<void> {
  for await (const findings of findingsOf(run)) {
    for (const finding of findings) run.emit({ type: 'found', ...finding })
    const [worst] = findings.filter(({ severity }) => severity === 'stop')
    if (worst) {
      await run.checkpoint()
      throw cannotLearn(worst)
    }
  }
}

/** Check after check: a later one is of no use where an earlier one stops. */
async function* findingsOf(run: RolloutRun): AsyncGenerator<readonly Finding[]> {
  const { options, clock, taught, weights, allDemonstrations: read } = run
  const { source, reward, prime, signal } = options
  const { environment, train } = source
  const demonstrations = prime?.demonstrations ?? []
  // What is left out may not hang on how fast it was played.
  const patience = options.deterministic ? { seconds: Number.POSITIVE_INFINITY } : {}
  const watch = {
    now: () => clock.now(),
    callSeconds: callSecondsOf(options),
    ...patience,
    ...(signal ? { signal } : {}),
  }
  const { model } = present(taught ?? weights[0], 'weights that learn')
  const { renderer, sampler } = model
  const { contextLength } = sampler.capabilities
  const countTokens = (text: string) => renderer.extend([{ role: 'user', content: text }], true).length
  const asked = [{ role: 'user', content: 'x' }] as const
  const toolTokens = (tools: readonly ToolDefinition[]) =>
    renderer.start(asked, tools).length - renderer.start(asked, []).length
  const measure = { countTokens, toolTokens, contextLength }
  yield await environmentFindings({ environment, tasks: train, ...measure, ...watch })
  const shown = demonstrations.map((one, i) => ({ ...one, tools: read.tools[i] ?? [] }))
  yield demonstrationFindings({ demonstrations: shown, tools: [] })
  yield heldOutFindings(demonstrations, source)
  if (options.gate) yield fewTasksFindings(options.gate, judgingTasks(run).length)
  if (taught) yield lostCalls(shown, renderer)
  const { findings, unearned, played } = await replayDemonstrations({
    environment,
    demonstrations,
    tasks: train,
    reward,
    ...(options.successThreshold !== undefined && { threshold: options.successThreshold }),
    ...watch,
  })
  yield findings
  run.leaveOut(unearned)
  const { toolErrors } = run.budget
  run.learnBounds(played)
  const raised = options.budget?.toolErrors === undefined ? run.budget.toolErrors : null
  yield refusedFindings(played, { toolErrors, raised })
  if (options.successThreshold === undefined) {
    yield thresholdFindings(played, { threshold: run.successThreshold, ceiling: reward.ceiling })
  }
  yield await verifierFindings({
    environment,
    demonstrations,
    tasks: train,
    reward,
    threshold: run.successThreshold,
    ...watch,
  })
}
