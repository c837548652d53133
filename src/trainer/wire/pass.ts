import type { Datum, Loss } from '../../core/index.ts'
import { requestError } from '../errors.ts'
import type { PassInputBody } from './bodies.ts'

/** A pass over data as it came, in JSON or protobuf. */
export interface PassBody {
  readonly modelId: string
  readonly seqId: number | null
  readonly forwardOnly: boolean
  readonly data: readonly RawDatum[]
  readonly loss: string
  readonly config: Readonly<Record<string, number>>
}

export interface RawDatum {
  readonly input: readonly number[]
  readonly tensors: ReadonlyMap<string, RawTensor>
}

export interface RawTensor {
  readonly values: readonly number[]
  readonly shape: readonly number[]
}

/** The data of a JSON body. */
export const rawData = (body: PassInputBody): readonly RawDatum[] =>
  body.data.map(({ model_input, loss_fn_inputs }) => ({
    input: model_input,
    tensors: new Map(
      Object.entries(loss_fn_inputs).map(([name, { data, shape }]) => [
        name,
        { values: data, shape: shape ?? [data.length] },
      ]),
    ),
  }))

const losses = ['cross_entropy', 'importance_sampling', 'ppo', 'cispo'] as const
const thresholds = ['clip_low_threshold', 'clip_high_threshold']
/** Stands for no upper clip, which is infinity in protobuf: the journal, which is JSON, has none. */
const unbounded = 1e30
const fields = { target_tokens: 'target', weights: 'weights', logprobs: 'logprobs', advantages: 'advantages' } as const
const isField = (name: string): name is keyof typeof fields => name in fields

/**
 * The loss that a name and its configuration stand for.
 * @throws TrainerRequestError for another name or key.
 */
export function lossOf(name: string, config: Readonly<Record<string, number>>): Loss {
  const kind = losses.find((one) => one === name)
  if (kind === undefined) {
    throw requestError(
      'unknown-loss',
      `There is no loss ${JSON.stringify(name)}.`,
      `Give one of ${losses.join(', ')}.`,
      {
        field: 'loss_fn',
      },
    )
  }
  const known = kind === 'ppo' || kind === 'cispo' ? thresholds : []
  const foreign = Object.keys(config).find((key) => !known.includes(key))
  if (foreign !== undefined) {
    throw requestError(
      'unknown-loss-config',
      `The loss ${kind} has no setting ${JSON.stringify(foreign)}.`,
      known.length === 0
        ? 'Leave loss_fn_config out.'
        : `Its settings are ${known.join(' and ')}, bounds on the ratio.`,
      { field: `loss_fn_config.${foreign}` },
    )
  }
  if (kind === 'cross_entropy' || kind === 'importance_sampling') return { kind }
  const { clip_low_threshold: clipLow = 0.8, clip_high_threshold: clipHigh = 1.2 } = config
  return { kind, clipLow, clipHigh: Math.min(clipHigh, unbounded) }
}

/**
 * One training sequence.
 * @throws TrainerRequestError for a tensor that no loss here reads, or of more than one dimension.
 */
export function datumOf({ input, tensors }: RawDatum, index: number): Datum {
  const arrays: Partial<Record<(typeof fields)[keyof typeof fields], readonly number[]>> = {}
  for (const [name, { values, shape }] of tensors) {
    const field = `data.${index}.loss_fn_inputs.${name}`
    if (!isField(name)) {
      throw requestError(
        'unknown-input',
        `No loss here reads ${name}.`,
        `Send ${Object.keys(fields).join(', ')} only.`,
        {
          field,
        },
      )
    }
    if (shape.length !== 1 || shape[0] !== values.length) {
      throw requestError(
        'wrong-shape',
        `${field} has the shape [${shape.join(', ')}] and ${values.length} values.`,
        'Send one value for each token of model_input, in one dimension.',
        { field },
      )
    }
    arrays[fields[name]] = values
  }
  const { target, ...rest } = arrays
  if (target === undefined) {
    const field = `data.${index}.loss_fn_inputs.target_tokens`
    throw requestError(
      'missing-input',
      `${field} is missing.`,
      'Send the token that follows each token of model_input.',
      {
        field,
      },
    )
  }
  return { input, target, ...rest }
}
