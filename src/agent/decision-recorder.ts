import { inspect } from 'node:util'
import {
  type AnyKind,
  type Binding,
  type DecisionRecorder,
  Json,
  type ParameterName,
  Propensity,
} from '../core/index.ts'
import { KindError } from './errors.ts'
import { problemsOf } from './kind-value.ts'
import { currentRecorder } from './recorder.ts'

/**
 * Records a Parameter's Decisions as its Kind's schema has them, and as readers accept them: a propensity that is none would
 * make its whole trajectory unreadable.
 */
export function decisionRecorder(
  parameter: ParameterName,
  { kind, made: schema }: AnyKind,
  { inForce }: Binding,
): DecisionRecorder<unknown> {
  return {
    decide({ made, propensity }) {
      const read = schema.pipe(Json).safeParse(made)
      if (!read.success) {
        throw badDecision(
          `A decision of "${parameter}" holds what the kind "${kind}" does not allow: ${problemsOf(read.error)}.`,
          "Record what the Kind's schema of `made` accepts, as JSON.",
          read.error,
        )
      }
      const likely = Propensity.safeParse(propensity)
      if (!likely.success) {
        throw badDecision(
          `A decision of "${parameter}" has a propensity that cannot be: ${inspect(propensity)}.`,
          'Give `log`, the natural logarithm of a probability: finite and at most 0; or `log: null` with the reason. A density above 1 is none.',
          likely.error,
        )
      }
      currentRecorder().decideUnplaced({ parameter, kind, inForce, propensity: likely.data, made: read.data })
    },
  }
}

const badDecision = (message: string, hint: string, cause: unknown): KindError =>
  new KindError({ code: 'agent/bad-decision', message, hint, cause })
