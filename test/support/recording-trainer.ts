import type { AdamParams, Datum, Loss, Trainer } from '../../src/core/index.ts'

interface Batch {
  readonly data: readonly Datum[]
  readonly loss: Loss
}

/** An optimizer step, with the first batch that it was made of. */
export interface Pass extends Batch {
  readonly adam: AdamParams
}

/**
 * A trainer of the uniform model over `vocabulary` tokens, which cannot learn: every log-probability is −log V, so that
 * losses are known by hand. It keeps what each optimizer step was made of.
 */
export function recordingTrainer(vocabulary = 10): { readonly trainer: Trainer; readonly passes: readonly Pass[] } {
  const logprob = -Math.log(vocabulary)
  const passes: Pass[] = []
  let pending: readonly Batch[] = []
  const notHere = () => Promise.reject(new Error('the uniform model has no weights'))

  const trainer: Trainer = {
    forwardBackward(data, loss) {
      pending = [...pending, { data, loss }]
      let total = 0
      for (const { input, weights, advantages, logprobs } of data) {
        input.forEach((_, t) => {
          if (loss.kind === 'cross_entropy') total -= (weights?.[t] ?? 1) * logprob
          else total -= Math.exp(logprob - (logprobs?.[t] ?? 0)) * (advantages?.[t] ?? 0)
        })
      }
      const tokens = data.reduce((sum, { input }) => sum + input.length, 0)
      const result = { loss: total, logprobs: data.map(({ input }) => input.map(() => logprob)) }
      return Promise.resolve({ ...result, tokens: { data: tokens, computed: tokens } })
    },
    forward: (data) => Promise.resolve(data.map(({ input }) => input.map(() => logprob))),
    anchoring: null,
    capabilities: {
      losses: ['cross_entropy', 'importance_sampling', 'ppo', 'cispo'],
      temperatures: true,
      saves: 'bytes',
    },
    discard: notHere,
    optimStep(adam) {
      const [first] = pending
      if (first) passes.push({ ...first, adam })
      pending = []
      return Promise.resolve({ gradNorm: 2, anchorPenalty: 0, step: passes.length })
    },
    saveState: notHere,
    loadState: notHere,
    saveWeights: notHere,
    loadWeights: notHere,
    publish: notHere,
    close: () => Promise.resolve(),
  }
  return { trainer, passes }
}
