import type { Float, Integer } from '../builder.ts'
import { binary, unary } from './elementwise.ts'
import { reshaped } from './layout.ts'
import { reduce } from './rms-norm.ts'

/**
 * Log-probability of one target a row: logits `[rows, vocab]`, targets `[rows]`, inverseTemperature a scalar;
 * result `[rows]` = log softmax(logits · inverseTemperature) at the target.
 * Backward: d logits = inverseTemperature · dy · (onehot(target) − softmax).
 *
 * The row's log-sum-exp is read off its likeliest token (max logit − log max probability), which spares a second
 * pass of exponentials over the vocabulary.
 */
export function targetLogprobs(logits: Float, targets: Integer, inverseTemperature: Float): Float {
  const { graph } = logits
  const [rows = 1] = logits.shape
  const scaled = binary('Mul', logits, inverseTemperature)
  const softmax = graph.node('Softmax', [scaled], 'float32', logits.shape, { attributes: { axis: { int: -1 } } })
  const column = reshaped(targets, [rows, 1])
  const atTarget = graph.node('GatherElements', [scaled, column], 'float32', [rows, 1], {
    attributes: { axis: { int: 1 } },
  })
  const logSumExp = binary('Sub', reduce('ReduceMax', scaled), unary('Log', reduce('ReduceMax', softmax)))
  const logprobs = reshaped(binary('Sub', atTarget, logSumExp), [rows])
  return graph.record(logprobs, [logits], (dy) => [
    () => {
      const coefficient = binary('Mul', reshaped(dy, [rows, 1]), inverseTemperature)
      const spread = binary('Mul', softmax, unary('Neg', coefficient))
      return graph.node('ScatterElements', [spread, column, coefficient], 'float32', logits.shape, {
        attributes: { axis: { int: 1 }, reduction: { string: 'add' } },
      })
    },
  ])
}
