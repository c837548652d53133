import { type AnyKind, type Binding, type DecisionRecorder, Json, type ParameterName } from '../core/index.ts'
import { KindError } from './errors.ts'
import { problemsOf } from './kind-value.ts'
import { currentRecorder } from './recorder.ts'

/** Records a Parameter's Decisions as its Kind's schema has them. */
export function decisionRecorder(
  parameter: ParameterName,
  { kind, made: schema }: AnyKind,
  { inForce }: Binding,
): DecisionRecorder<unknown> {
  return {
    decide({ made, propensity }) {
      const { success, data, error } = schema.pipe(Json).safeParse(made)
      if (!success) {
        throw new KindError({
          code: 'agent/bad-decision',
          message: `A decision of "${parameter}" holds what the kind "${kind}" does not allow: ${problemsOf(error)}.`,
          hint: "Record what the Kind's schema of `made` accepts, as JSON.",
          cause: error,
        })
      }
      currentRecorder().decideUnplaced({ parameter, kind, inForce, propensity, made: data })
    },
  }
}
