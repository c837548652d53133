import { type Kind, type PolicySample, WeightsValue } from '../core/index.ts'
import { z } from 'zod'
import type { WeightsBinding } from './binding.ts'
import { policySamples } from './policy-samples.ts'
import { WeightsParameter } from './weights-parameter.ts'

const Value = WeightsValue.omit({ kind: true })

/** Adapters on a base model. What was decided is in a Decision's output node, as tokens. */
export const weightsKind: Kind<
  'weights',
  z.infer<typeof Value>,
  null,
  WeightsParameter,
  PolicySample,
  WeightsBinding
> = {
  kind: 'weights',
  flat: true,
  value: Value,
  made: z.null(),
  blobs: ({ adapter }) => (adapter === null ? [] : [adapter]),
  handle: (bound, _, name) => new WeightsParameter(name, bound),
  deposit: (decided, trajectory) => policySamples.deposit(trajectory, decided),
}
