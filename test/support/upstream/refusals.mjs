// What the server refuses, in the words of the servers that do.
import { errorBody } from './send.mjs'

/** Fields of a chat completion request that OpenAI knows. */
const known = new Set(
  `model messages audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens
  metadata modalities n parallel_tool_calls prediction presence_penalty prompt_cache_key reasoning_effort response_format
  safety_identifier seed service_tier stop store stream stream_options temperature tool_choice tools top_logprobs top_p
  user verbosity web_search_options`.split(/\s+/u),
)

/** @returns {{ status: number, body: object } | null} */
export function refusalOf(body, settings) {
  if (typeof body !== 'object' || body === null || !Array.isArray(body.messages) || typeof body.model !== 'string') {
    return { status: 400, body: errorBody("Missing required parameter: 'messages'.", { param: 'messages' }) }
  }
  if (settings.models.length > 0 && settings.anyModel !== true && !settings.models.includes(body.model)) {
    const message = `The model \`${body.model}\` does not exist or you do not have access to it.`
    return { status: 404, body: errorBody(message, { code: 'model_not_found' }) }
  }
  const unknown = Object.keys(body).filter((key) => !known.has(key))
  if (settings.strict && unknown.length > 0) return unknownFields(body, unknown, settings.strict)
  if (settings.logprobs === 'refused' && body.logprobs) {
    return { status: 403, body: errorBody('You are not allowed to request logprobs from this model') }
  }
  if (settings.logprobs === 'not-with-tools' && body.logprobs && body.tools?.length && body.stream) {
    return { status: 400, body: errorBody('logprobs is not supported with tools + stream') }
  }
  if (settings.usage === 'refused' && body.stream_options !== undefined) {
    return { status: 400, body: errorBody('Unrecognized request argument supplied: stream_options') }
  }
  return settings.refuse?.(body) ?? null
}

function unknownFields(body, unknown, strict) {
  if (strict === 'vague') return { status: 400, body: errorBody('Bad request') }
  if (strict === 'mistral') {
    const detail = unknown.map((key) => ({
      type: 'extra_forbidden',
      loc: ['body', key],
      msg: 'Extra inputs are not permitted',
      input: body[key],
    }))
    return { status: 422, body: { object: 'error', message: { detail }, type: 'invalid_request_error', code: null } }
  }
  const plural = unknown.length > 1 ? 's' : ''
  return { status: 400, body: errorBody(`Unrecognized request argument${plural} supplied: ${unknown.join(', ')}`) }
}
