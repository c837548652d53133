import { z } from 'zod'
import type { Grammar, SampleRequest, SamplerCapabilities } from '../../../core/index.ts'
import { mostNeighbours } from '../nearest/datastore.ts'
import { InvalidSampleRequestError } from './invalid-sample-request-error.ts'
import { SamplingTemperature } from './temperature.ts'

const SamplingParamsSchema = z.strictObject({
  maxTokens: z.int().min(1),
  temperature: SamplingTemperature.optional(),
  topK: z.int().min(1).optional(),
  topP: z.number().gt(0).max(1).optional(),
  stop: z.array(z.string().min(1)).readonly().optional(),
  stopTokens: z.array(z.int().nonnegative()).readonly().optional(),
  seed: z.int().optional(),
  grammar: z.custom<Grammar>((value) => typeof value === 'object' && value !== null).optional(),
  nearest: z
    .strictObject({
      datastore: z.strictObject({ kind: z.literal('datastore'), id: z.string() }),
      weight: z.number().min(0).max(1),
      neighbours: z.int().min(1).max(mostNeighbours),
      temperature: z.number().positive(),
    })
    .optional(),
})

/** @throws InvalidSampleRequestError for bad parameters, and for a prompt that is empty, too long or holds a foreign token. */
export function validateRequest({ prompt, params, samples = 1 }: SampleRequest, limits: SamplerCapabilities): void {
  const parsed = SamplingParamsSchema.safeParse(params)
  if (!parsed.success) {
    throw new InvalidSampleRequestError(z.prettifyError(parsed.error), 'See SamplingParams for the ranges.')
  }
  if (params.grammar !== undefined && !limits.grammars) {
    throw new InvalidSampleRequestError(
      'this sampler holds no sequence to a grammar.',
      'Leave `grammar` out, or sample with an embedded engine that was opened with `vocabulary`.',
    )
  }
  if (params.nearest !== undefined && !limits.datastores) {
    throw new InvalidSampleRequestError(
      'this sampler mixes in no datastore.',
      'Leave `nearest` out, or sample with the embedded engine.',
    )
  }
  if (params.nearest !== undefined && params.grammar !== undefined) {
    throw new InvalidSampleRequestError(
      'it has a grammar and a datastore, which are not sampled with together.',
      'Leave `grammar` or `nearest` out.',
    )
  }
  if (params.grammar && !(params.stopTokens ?? []).some((token) => token < limits.vocabularySize)) {
    throw new InvalidSampleRequestError(
      'it has a grammar and no stop tokens of the vocabulary.',
      'Give the tokens that may follow once the grammar is complete.',
    )
  }
  if (!Number.isInteger(samples) || samples < 1) {
    throw new InvalidSampleRequestError(`${samples} samples were asked for.`, 'Ask for at least one.')
  }
  if (prompt.length === 0) {
    throw new InvalidSampleRequestError(
      'the prompt is empty.',
      'Begin with at least one token, for example the start token.',
    )
  }
  if (prompt.length >= limits.contextLength) {
    throw new InvalidSampleRequestError(
      `the prompt has ${prompt.length} tokens, and prompt and continuation together have room for ${limits.contextLength}.`,
      'Shorten the prompt, or open the engine with a larger contextLength.',
    )
  }
  for (let position = 0; position < prompt.length; position++) {
    const token = prompt[position] as number
    if (Number.isInteger(token) && token >= 0 && token < limits.vocabularySize) continue
    throw new InvalidSampleRequestError(
      `token ${token} at position ${position} of the prompt is outside the vocabulary of ${limits.vocabularySize}.`,
      'Encode the prompt with the tokenizer of this model.',
    )
  }
}
