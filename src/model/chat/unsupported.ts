import type { ChatRequest } from '../../core/index.ts'
import type { Holder } from './constraint.ts'
import { type Refusal, refused } from './failures.ts'

/** Parameters that change what is sampled in ways that are not built, and the values with which they change nothing. */
const neutral: Readonly<Record<string, (value: unknown) => boolean>> = {
  frequency_penalty: (value) => value === 0,
  presence_penalty: (value) => value === 0,
  repetition_penalty: (value) => value === 1,
  min_p: (value) => value === 0,
  logit_bias: (value) => typeof value === 'object' && value !== null && Object.keys(value).length === 0,
  functions: (value) => Array.isArray(value) && value.length === 0,
  modalities: (value) => Array.isArray(value) && value.every((one) => one === 'text'),
}

/** What a sampler that draws at the temperatures 0 and 1 alone, from the whole vocabulary, can be asked for. */
const plainDraws: Readonly<Record<string, (value: unknown) => boolean>> = {
  temperature: (value) => value === 0 || value === 1,
  top_p: (value) => value === 1,
  top_k: (value) => typeof value === 'number' && value <= 0,
}

/** @throws UpstreamError `refused` for what is asked of the answer and cannot be done. */
export function refuseUnsupported(request: ChatRequest, { service, upstream }: Holder): void {
  const refuse = (refusal: Refusal) => {
    throw refused(upstream, refusal)
  }
  if ((request.top_logprobs ?? 0) > 0) {
    refuse({
      code: 'unsupported_parameter',
      param: 'top_logprobs',
      message: 'Log-probabilities are known of the sampled tokens only, not of others.',
      hint: 'Leave top_logprobs out; logprobs may stay.',
    })
  }
  for (const [param, changesNothing] of Object.entries(neutral)) {
    const value = request[param] ?? null
    if (value === null || changesNothing(value)) continue
    refuse({
      code: 'unsupported_parameter',
      param,
      message: `The parameter ${param} is not supported by this model.`,
      hint: 'Leave it out.',
    })
  }
  if (service.sampler.capabilities.temperatures !== false) return
  for (const [param, isPlain] of Object.entries(plainDraws)) {
    const value = request[param] ?? null
    if (value === null || isPlain(value)) continue
    refuse({
      code: 'unsupported_value',
      param,
      message: `The model is at a server that tells no log-probabilities under ${param} ${JSON.stringify(value)}.`,
      hint: 'Sample at temperature 1, or greedily (0), from the whole vocabulary.',
    })
  }
}
