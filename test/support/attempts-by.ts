import type { Agent } from '../../src/agent/index.ts'
import {
  type AdapterRef,
  type Environment,
  type ModelService,
  type Task,
  type Trajectory,
  VersionId,
} from '../../src/core/index.ts'
import { rollout } from '../../src/rollout/index.ts'

/** What is attempted, by whom. */
export interface Attempts {
  readonly agent: Agent
  readonly environment: Environment
  readonly adapter: AdapterRef
  readonly tasks: readonly Task[]
  readonly attempts: number
  readonly batch: string
  readonly tokensPerTurn: number
  /** Default 1. */
  readonly temperature?: number
}

/** Short episodes of an agent with one Parameter `model`, whose weights are an adapter of this service. */
export const attemptsBy = (
  service: ModelService,
  { adapter, tokensPerTurn, temperature = 1, ...rest }: Attempts,
): Promise<readonly Trajectory[]> =>
  rollout({
    ...rest,
    concurrency: 48,
    bind: ({ seed, signal }) => ({
      model: {
        kind: 'weights',
        inForce: { version: VersionId.parse('v'), generation: 1, checkpoint: null },
        sampler: service.sampler,
        renderer: service.renderer,
        adapter,
        sampling: { temperature },
        budget: { turns: 4, tokens: 64, tokensPerTurn, malformedCalls: 1, toolErrors: 2 },
        seed,
        signal,
        now: () => 0,
      },
    }),
    now: () => 0,
  })
