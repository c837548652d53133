import type { Datum, Loss } from '../../../core/index.ts'
import { InputError } from '../../../errors/index.ts'
import type { TransformerConfig } from '../transformer/config.ts'
import type { LossSettings } from './shard.ts'

/** What of a model bounds its training data. */
export type DataLimits = Pick<TransformerConfig, 'vocabSize' | 'maxPositions'>

/** A datum that no loss can be computed on. */
export class InvalidDatumError extends InputError {
  constructor(index: number, problem: string) {
    super({
      code: 'model/invalid-datum',
      message: `Training datum ${index} is invalid: ${problem}`,
      hint: 'Every array of a datum has the length of its input; policy losses need logprobs and advantages.',
    })
  }
}

/** @throws InputError (`model/invalid-loss`) when the temperature is not positive or the bounds are no interval. */
export function validateLoss({ clipLow, clipHigh, temperature }: LossSettings): void {
  const validTemperature = temperature > 0 && Number.isFinite(temperature)
  if (validTemperature && clipLow >= 0 && clipLow <= clipHigh) return
  throw new InputError({
    code: 'model/invalid-loss',
    message: `A loss cannot be computed at temperature ${temperature} with ratio bounds ${clipLow} to ${clipHigh}.`,
    hint: 'Temperature is above 0; bounds are ratios around 1, such as 0.8 and 1.2.',
  })
}

/** @throws InvalidDatumError when arrays disagree in length, a token is out of range, or the loss lacks an input. */
export function validateData(data: readonly Datum[], loss: Loss['kind'], config: DataLimits): void {
  for (const [index, datum] of data.entries()) {
    const problem = problemOf(datum, loss, config)
    if (problem !== undefined) throw new InvalidDatumError(index, problem)
  }
}

function problemOf(datum: Datum, loss: Loss['kind'], { vocabSize, maxPositions }: DataLimits): string | undefined {
  const { length } = datum.input
  if (length > maxPositions) return `its ${length} tokens exceed the model's ${maxPositions} positions`
  for (const name of ['target', 'weights', 'logprobs', 'advantages'] as const) {
    const array = datum[name]
    if (array === undefined) {
      if (loss !== 'cross_entropy' && name !== 'weights') return `${loss} needs ${name}`
    } else if (array.length !== length) return `${name} has ${array.length} entries for ${length} tokens`
  }
  for (const name of ['input', 'target'] as const) {
    const position = datum[name].findIndex((token) => !(Number.isInteger(token) && token >= 0 && token < vocabSize))
    if (position >= 0)
      return `${name}[${position}] is ${datum[name][position]}, and the vocabulary has ${vocabSize} tokens`
  }
  for (const name of ['weights', 'logprobs', 'advantages'] as const) {
    const position = datum[name]?.findIndex((value) => !Number.isFinite(Math.fround(value))) ?? -1
    if (position >= 0) return `${name}[${position}] is ${datum[name]?.[position]}, which is no number in float32`
  }
  return undefined
}
