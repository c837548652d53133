import type { Datum, Loss } from '../../../core/index.ts'
import { InputError } from '../../../errors/index.ts'
import type { TransformerConfig } from '../transformer/config.ts'
import { tokenLosses } from '../loss/index.ts'
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

/** @throws InputError (`model/invalid-loss`) when there is no such loss, the temperature is not positive, or the bounds are no interval. */
export function validateLoss({ kind, clipLow, clipHigh, temperature }: LossSettings): void {
  if (!Object.hasOwn(tokenLosses, kind)) {
    throw new InputError({
      code: 'model/invalid-loss',
      message: `There is no loss ${JSON.stringify(kind)}.`,
      hint: `Losses are ${Object.keys(tokenLosses).join(', ')}.`,
    })
  }
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

/**
 * @throws InvalidDatumError when a datum has auxiliary targets that are not as many as the head has outputs.
 * @param outputs of the head; 0: there is none.
 */
export function requireAuxiliary(data: readonly Datum[], outputs: number): void {
  for (const [index, { auxiliary }] of data.entries()) {
    if (auxiliary === undefined) continue
    const position = auxiliary.weights.findIndex((weight, t) => weight > 0 && auxiliary.targets[t]?.length !== outputs)
    if (position < 0) continue
    const found = auxiliary.targets[position]?.length
    const head = outputs === 0 ? 'there is no auxiliary head' : `the auxiliary head has ${outputs} outputs`
    throw new InvalidDatumError(index, `auxiliary.targets[${position}] has ${found} entries, and ${head}`)
  }
}

/** Targets and weights of every position; targets are numbers where the weight is not 0. */
function auxiliaryProblem({ input: { length }, auxiliary }: Datum): string | undefined {
  if (auxiliary === undefined) return undefined
  for (const name of ['targets', 'weights'] as const) {
    const entries = auxiliary[name].length
    if (entries !== length) return `auxiliary.${name} has ${entries} entries for ${length} tokens`
  }
  for (const [t, weight] of auxiliary.weights.entries()) {
    if (!(weight >= 0 && isFloat(weight)))
      return `auxiliary.weights[${t}] is ${weight}, and must be a number of 0 or more`
    const wrong = weight === 0 ? undefined : auxiliary.targets[t]?.find((target) => !isFloat(target))
    if (wrong !== undefined) return `auxiliary.targets[${t}] holds ${wrong}, which is no number in float32`
  }
  return undefined
}

const isFloat = (value: number): boolean => Number.isFinite(Math.fround(value))

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
    const position = datum[name]?.findIndex((value) => !isFloat(value)) ?? -1
    if (position >= 0) return `${name}[${position}] is ${datum[name]?.[position]}, which is no number in float32`
  }
  return auxiliaryProblem(datum)
}
