import { z } from 'zod'
import type { Rope, RopeScaling } from '../../transformer/index.ts'
import { MalformedModelError } from '../malformed-model-error.ts'
import { UnsupportedModelError } from '../unsupported-model-error.ts'
import type { Family } from './families.ts'
import type { HuggingFaceConfig, RopeEntry } from './hugging-face-config.ts'

const positive = z.number().positive()
const Linear = z.object({ factor: positive })
const Llama3 = z.object({
  factor: positive,
  low_freq_factor: positive,
  high_freq_factor: positive,
  original_max_position_embeddings: z.int().positive(),
})

/**
 * The rotary positions of a model, and those of its sliding layers where these have their own. The older names
 * (`rope_theta`, `rope_scaling`, `rope_local_base_freq`) and those of transformers 5 (`rope_parameters`) are read.
 * @throws UnsupportedModelError for a type of scaling that the engine does not have.
 * @throws MalformedModelError when a type lacks one of its numbers.
 */
export function readRopes(config: HuggingFaceConfig, { localRope }: Family): { global: Rope; local?: Rope } {
  const { rope_theta, rope_scaling, rope_parameters, rope_local_base_freq } = config
  const whole = rope_parameters?.full_attention ?? rope_parameters
  const global = readRope('rope_scaling', { ...whole, ...rope_scaling }, rope_theta)
  if (!localRope) return { global }
  const local = rope_parameters?.sliding_attention ?? {}
  return { global, local: readRope('rope_parameters.sliding_attention', local, rope_local_base_freq ?? rope_theta) }
}

function readRope(field: string, entry: RopeEntry, defaultTheta: number): Rope {
  const turned = entry.partial_rotary_factor ?? 1
  if (turned !== 1) throw new UnsupportedModelError(`${field}.partial_rotary_factor`, turned, '1')
  const theta = entry.rope_theta ?? defaultTheta
  const scaling = readScaling(field, entry)
  return scaling === null ? { theta } : { theta, scaling }
}

function readScaling(field: string, entry: RopeEntry): RopeScaling | null {
  switch (entry.rope_type ?? entry.type ?? 'default') {
    case 'default':
      return null
    case 'linear':
      return { type: 'linear', ...numbers(field, Linear, entry) }
    case 'llama3': {
      const found = numbers(field, Llama3, entry)
      return {
        type: 'llama3',
        factor: found.factor,
        lowFrequencyFactor: found.low_freq_factor,
        highFrequencyFactor: found.high_freq_factor,
        originalMaxPositions: found.original_max_position_embeddings,
      }
    }
    default:
      throw new UnsupportedModelError(field, entry, 'null or of the type "default", "linear" or "llama3"')
  }
}

function numbers<T>(field: string, schema: z.ZodType<T>, entry: RopeEntry): T {
  const parsed = schema.safeParse(entry)
  if (parsed.success) return parsed.data
  const problem = z.prettifyError(parsed.error).replaceAll('\n', ' ')
  throw new MalformedModelError(`config.json is not usable: ${field}: ${problem}`, parsed.error)
}
