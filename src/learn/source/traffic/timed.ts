import type { Metrics } from '../../../core/index.ts'
import type { TrafficRun } from './traffic-run.ts'

/** Does one piece of learning, and adds its time and its tokens to the run's. */
export async function timed(run: TrafficRun, work: () => Promise<Metrics>): Promise<Metrics> {
  const began = run.clock.now()
  const metrics = await work()
  run.state = {
    ...run.state,
    learningSeconds: run.state.learningSeconds + (run.clock.now() - began) / 1000,
    tokensTrained: run.state.tokensTrained + (metrics.tokens ?? 0),
  }
  return metrics
}
