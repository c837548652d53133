import { z } from 'zod'
import { TransformerConfig } from '../../transformer/index.ts'
import { MalformedModelError } from '../malformed-model-error.ts'
import { ModelUseError } from '../model-use-error.ts'
import { UnsupportedModelError } from '../unsupported-model-error.ts'
import { type Family, families } from './families.ts'
import { HuggingFaceConfig } from './hugging-face-config.ts'
import { readRopes } from './read-ropes.ts'
import { readSliding } from './read-sliding.ts'

const Named = z.looseObject({ architectures: z.array(z.string()).min(1) })

/** What is required of every architecture's entries; see {@link Family.required}. */
const required: Readonly<Record<string, unknown>> = { partial_rotary_factor: 1, quantization_config: null }

/**
 * Reads the content of a Hugging Face config.json.
 * @throws UnsupportedModelError naming the field, when it asks for mathematics that the engine does not have.
 * @throws ModelUseError for an architecture of sentence models.
 * @throws MalformedModelError when a field is missing or of the wrong type.
 */
export function readTransformerConfig(configJson: unknown): TransformerConfig {
  const { architectures, ...entries } = checked(Named, configJson)
  const family = familyOf(architectures)
  const config = checked(HuggingFaceConfig, { ...family.defaults, ...entries })
  for (const [field, value] of Object.entries({ ...required, ...family.required })) {
    const found = config[field] ?? null
    if (found !== null && found !== value) throw new UnsupportedModelError(field, found, JSON.stringify(value))
  }
  const heads = config.num_attention_heads
  const { global, local } = readRopes(config, family)
  const sliding = readSliding(config, family, local)
  return checked(TransformerConfig, {
    vocabSize: config.vocab_size,
    hiddenSize: config.hidden_size,
    intermediateSize: config.intermediate_size,
    layers: config.num_hidden_layers,
    heads,
    kvHeads: config.num_key_value_heads ?? heads,
    headDim: config.head_dim ?? config.hidden_size / heads,
    ropeTheta: global.theta,
    rmsNormEps: config.rms_norm_eps,
    maxPositions: config.max_position_embeddings,
    tiedHead: config.tie_word_embeddings,
    ...(global.scaling && { ropeScaling: global.scaling }),
    ...(sliding && { sliding }),
    ...family.departures(config),
  })
}

/** Architectures that write no text, and of which sentence models are. */
const encoders: ReadonlySet<string> = new Set([
  'BertModel',
  'DistilBertModel',
  'MPNetModel',
  'RobertaModel',
  'XLMRobertaModel',
])

function familyOf(architectures: readonly string[]): Family {
  for (const name of architectures) {
    const family = families.get(name)
    if (family !== undefined) return family
  }
  const encoder = architectures.find((name) => encoders.has(name))
  if (encoder !== undefined) throw new ModelUseError(`A ${encoder}`, 'sentences')
  throw new UnsupportedModelError('architectures', architectures, [...families.keys()].join(' or '))
}

function checked<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const problem = z.prettifyError(parsed.error).replaceAll('\n', ' ')
  throw new MalformedModelError(`config.json is not usable: ${problem}`, parsed.error)
}
