import { VersionId } from '../dist/core/index.js'
import { rollout } from '../dist/rollout/index.js'

/**
 * One greedy attempt at each task, of an agent whose Parameter `model` is the base weights or an adapter.
 *
 * @param adapter `null` for the base
 */
export const greedyAttempts = ({ sampler, renderer }, { adapter, budget, ...rest }) =>
  rollout({
    ...rest,
    now: () => Date.now(),
    bind: ({ seed, signal }) => ({
      model: {
        kind: 'weights',
        inForce: { version: VersionId.parse('evidence'), generation: 0, checkpoint: null },
        sampler,
        renderer,
        adapter,
        sampling: { temperature: 0 },
        budget,
        seed,
        signal,
        now: () => Date.now(),
      },
    }),
  })
