import type { ChatRequest, Propensity, SampledSpan } from '../../core/index.ts'
import type { AnsweredChoice } from '../ports.ts'

/** What a request may say without its changing how tokens are drawn. */
const besideSampling = new Set([
  'model',
  'messages',
  'tools',
  'parallel_tool_calls',
  'stream',
  'stream_options',
  'n',
  'max_tokens',
  'max_completion_tokens',
  'stop',
  'seed',
  'logprobs',
  'top_logprobs',
  'user',
  'metadata',
  'store',
  'service_tier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'safety_identifier',
  'return_token_ids',
  'chat_template_kwargs',
])

/** Values that leave the distribution as the model has it. */
const neutral: Readonly<Record<string, readonly unknown[]>> = {
  temperature: [1],
  top_p: [1],
  top_k: [-1, 0],
  min_p: [0],
  presence_penalty: [0],
  frequency_penalty: [0],
  repetition_penalty: [1],
  logit_bias: [],
  tool_choice: ['auto', 'none'],
  response_format: [],
}

/** What servers take from the model's own `generation_config.json` where the request does not say it: vLLM, SGLang. */
const fromModel = ['temperature', 'top_p', 'top_k', 'min_p', 'repetition_penalty']

/**
 * Whether tokens were drawn from the model's own distribution at temperature 1: then their log-probabilities under it,
 * which servers tell, are those that they were drawn with.
 * @param ownDefaults whether the server may have defaults of its own: what the request leaves out is then not known.
 */
export function drawnAsIs(request: ChatRequest, ownDefaults: boolean): boolean {
  for (const [key, value] of Object.entries(request)) {
    if (value === null || value === undefined || besideSampling.has(key)) continue
    const allowed = Object.hasOwn(neutral, key) ? neutral[key] : undefined
    if (!allowed?.includes(value) && !saysText(key, value)) return false
  }
  return !ownDefaults || fromModel.every((key) => request[key] !== null && request[key] !== undefined)
}

/** `response_format: { type: 'text' }` and an empty `logit_bias` change nothing. */
function saysText(key: string, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (key === 'response_format') return (value as { type?: unknown }).type === 'text'
  return key === 'logit_bias' && Object.keys(value).length === 0
}

/** Whether tokens were left out that the model could have said: forced calls, JSON. */
function heldToAForm({ tool_choice: choice, response_format: format }: ChatRequest): boolean {
  return !['auto', 'none'].some((free) => free === (choice ?? 'auto')) || (format?.type ?? 'text') !== 'text'
}

/** Rounding makes tiny positive ones; a larger one is no log-probability. */
const rounding = 1e-3

function readLogprobs(values: readonly number[] | null, length: number): number[] | null {
  if (values?.length !== length || !values.every((value) => Number.isFinite(value) && value <= rounding)) return null
  return values.map((value) => Math.min(0, value))
}

/** What is known of how one answer was drawn. */
export interface Drawn {
  /** `null` where tokens or their log-probabilities are not told. */
  readonly span: SampledSpan | null
  readonly propensity: Propensity
}

/** Reads what an upstream tells of one answer's tokens. */
export function drawnOf(choice: AnsweredChoice, request: ChatRequest, ownDefaults: boolean): Drawn {
  const tokens = choice.tokens ?? []
  const logprobs = readLogprobs(choice.logprobs, tokens.length)
  if (tokens.length === 0 || logprobs === null) {
    return { span: null, propensity: { log: null, reason: choice.tokens ? 'not-recorded' : 'closed-api' } }
  }
  const told = readLogprobs(choice.behaviourLogprobs, tokens.length)
  const behaviourLogprobs = told ?? (drawnAsIs(request, ownDefaults) ? logprobs : null)
  const number = (key: string) => (typeof request[key] === 'number' ? request[key] : 0)
  return {
    span: {
      kind: 'sampled',
      tokens: [...tokens],
      behaviourLogprobs,
      logprobs,
      sampling: {
        temperature: request.temperature ?? 1,
        truncated: (request.top_p ?? 1) < 1 || number('top_k') > 0 || number('min_p') > 0 || heldToAForm(request),
      },
    },
    propensity: behaviourLogprobs
      ? { log: behaviourLogprobs.reduce((sum, logprob) => sum + logprob, 0) }
      : { log: null, reason: 'not-recorded' },
  }
}
