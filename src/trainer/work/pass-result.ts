import type { Datum, Loss } from '../../core/index.ts'
import type { PassResult } from '../journal/events.ts'

/** JSON has no infinity, and float32 no larger number. */
const largest = 3.4028234663852886e38
/** The nearest number that JSON has. */
export const finite = (value: number): number =>
  Number.isNaN(value) ? largest : Math.min(largest, Math.max(-largest, value))

/** What a pass answers: the log-probability of each target, the loss of each, and their sum. */
export function passResult(data: readonly Datum[], logprobs: readonly (readonly number[])[], loss: Loss): PassResult {
  const losses = data.map((datum, i) =>
    (logprobs[i] ?? []).map((logprob, t) => finite(tokenLoss(datum, t, logprob, loss))),
  )
  const sum = losses.reduce((total, one) => one.reduce((part, value) => part + value, total), 0)
  return {
    kind: 'pass',
    logprobs: logprobs.map((one) => one.map(finite)),
    losses,
    metrics: { 'loss:sum': finite(sum) },
  }
}

/** The loss of one token; see `Loss`. */
function tokenLoss({ weights, advantages, logprobs }: Datum, t: number, logprob: number, loss: Loss): number {
  const weight = weights?.[t] ?? 1
  if (weight === 0) return 0
  if (loss.kind === 'cross_entropy') return -weight * logprob
  const advantage = advantages?.[t] ?? 0
  if (advantage === 0) return 0
  const ratio = Math.exp(logprob - (logprobs?.[t] ?? 0))
  if (loss.kind === 'importance_sampling') return -weight * ratio * advantage
  const clipped = Math.min(loss.clipHigh ?? 1.2, Math.max(loss.clipLow ?? 0.8, ratio))
  if (loss.kind === 'cispo') return -weight * clipped * logprob * advantage
  return -weight * Math.min(ratio * advantage, clipped * advantage)
}
