import type { Datum, Loss } from '../../core/index.ts'
import { unsupported } from './failures.ts'
import type { PassDatum, TinkerLoss } from './pass.ts'
import type { ServerTraits } from './server-kind.ts'

/** A loss as the wire has it. */
export interface WireLoss {
  readonly loss: TinkerLoss
  readonly config: Readonly<Record<string, number>>
  datum(datum: Datum): PassDatum
}

/** JSON has no infinity. */
const unbounded = 1e30

/**
 * Puts a loss of ours, which is a sum over tokens, into the words of a server. Weights of policy losses go into the
 * advantages. Clip thresholds are bounds on the ratio itself on both sides.
 *
 * A server that means over each sequence divides by the sum of its weights: with weights of 1, by its length, which the
 * advantages undo. It knows no such factor for cross-entropy, but cross-entropy is CISPO at a ratio clipped to 1:
 * −sg[clip(ρ, 1, 1)]·lp·A = −lp·A. What stays is the division by the number of sequences, one factor for the whole
 * gradient, which AdamW takes out.
 * @throws InputError `model/tinker-unsupported` for another temperature than 1.
 */
export function wireLoss(loss: Loss, reduction: ServerTraits['reduction']): WireLoss {
  const { kind } = loss
  if (kind !== 'cross_entropy' && (loss.temperature ?? 1) !== 1) {
    throw unsupported(
      `the loss ${kind} at temperature ${loss.temperature}.`,
      'Sample and train at temperature 1, or train with the embedded engine.',
    )
  }
  const scale = reduction === 'sum' ? () => 1 : ({ input }: Datum) => input.length
  if (kind === 'cross_entropy') {
    const weights = (datum: Datum) => datum.input.map((_, i) => (datum.weights?.[i] ?? 1) * scale(datum))
    if (reduction === 'sum') {
      return { loss: kind, config: {}, datum: (datum) => ({ ...of(datum), floats: { weights: weights(datum) } }) }
    }
    const zeros = (datum: Datum) => datum.input.map(() => 0)
    return {
      loss: 'cispo',
      config: thresholds(1, 1),
      datum: (datum) => ({ ...of(datum), floats: { logprobs: zeros(datum), advantages: weights(datum) } }),
    }
  }
  return {
    loss: kind,
    config: kind === 'importance_sampling' ? {} : thresholds(loss.clipLow ?? 0.8, loss.clipHigh ?? 1.2),
    datum(datum) {
      const { logprobs = [], advantages = [], weights } = datum
      if (kind === 'ppo' && weights?.some((weight) => weight < 0)) {
        throw unsupported('ppo with negative weights.', 'Give weights of at least 0, and the sign to the advantages.')
      }
      const scaled = advantages.map((advantage, i) => advantage * (weights?.[i] ?? 1) * scale(datum))
      return { ...of(datum), floats: { logprobs, advantages: scaled } }
    },
  }
}

const of = ({ input, target }: Datum) => ({ input, target })

const thresholds = (low: number, high: number) => ({
  clip_low_threshold: low,
  clip_high_threshold: Math.min(high, unbounded),
})

/** Whether a position has a part in the loss: the log-probability of any other is not told. */
export function counts({ weights, advantages }: Datum, kind: Loss['kind'], t: number): boolean {
  return (weights?.[t] ?? 1) !== 0 && (kind === 'cross_entropy' || (advantages?.[t] ?? 0) !== 0)
}

/** The sum of the per-token losses of one datum, from the log-probabilities of its targets; see {@link Loss}. */
export function lossOf(datum: Datum, loss: Loss, logprobs: readonly number[]): number {
  let sum = 0
  for (const [t, logprob] of logprobs.entries()) {
    if (!counts(datum, loss.kind, t)) continue
    const weight = datum.weights?.[t] ?? 1
    const advantage = datum.advantages?.[t] ?? 0
    const ratio = Math.exp(logprob - (datum.logprobs?.[t] ?? 0))
    sum -= weight * objective(loss, logprob, ratio, advantage)
  }
  return sum
}

function objective(loss: Loss, logprob: number, ratio: number, advantage: number): number {
  switch (loss.kind) {
    case 'cross_entropy':
      return logprob
    case 'importance_sampling':
      return ratio * advantage
    case 'ppo':
      return Math.min(ratio * advantage, clipped(loss, ratio) * advantage)
    case 'cispo':
      return clipped(loss, ratio) * logprob * advantage
  }
}

const clipped = (
  { clipLow = 0.8, clipHigh = 1.2 }: { readonly clipLow?: number; readonly clipHigh?: number },
  ratio: number,
): number => Math.min(clipHigh, Math.max(clipLow, ratio))
