import type { ChatRequest, Json, UpstreamFailure } from '../../../core/index.ts'
import { RatchetError } from '../../../errors/index.ts'
import { isUnservedAdapter, isUpstreamFailure } from '../../../model/openai/index.ts'
import { type Problem, problemIn } from '../../http/problem.ts'

/** Of the API's own words for what is wrong with a request, those that are told. */
const toldCodes: ReadonlySet<string> = new Set([
  'content_filter',
  'content_policy_violation',
  'context_length_exceeded',
  'insufficient_quota',
  'invalid_api_key',
  'invalid_parameter',
  'invalid_type',
  'invalid_value',
  'missing_required_parameter',
  'model_not_found',
  'rate_limit_exceeded',
  'unknown_parameter',
  'unsupported_parameter',
  'unsupported_response_format',
  'unsupported_tool_choice',
  'unsupported_value',
])

/** How long a client is asked to wait, whichever upstream is busy. */
const retryAfterSeconds = 2

/**
 * What a client of an agent with releases is told of a failure behind the gateway: what went wrong with its own request, and
 * nothing in the upstream's words, which name adapters and models and count the tokens of learned prompts.
 * @param problem what anybody else is told.
 */
export function alikeProblem(error: unknown, problem: Problem, request: ChatRequest): Problem {
  return RatchetError.is(error) && isUpstreamFailure(error) ? ofUpstream(error, problem, request) : problem
}

function ofUpstream(error: UpstreamFailure, { status }: Problem, request: ChatRequest): Problem {
  const common = { status, hint: "The upstream's words are in the gateway's record: `ratchet show`." }
  const kind = isUnservedAdapter(error) ? 'broken' : error.kind
  switch (kind) {
    case 'refused': {
      const { code, param } = refusalIn(error.body, request)
      const what = param === null ? 'the request' : `"${param}"`
      return problemIn({
        ...common,
        type: 'invalid_request_error',
        code: code ?? 'model/upstream-refused',
        param,
        message: `The upstream refused ${what}${code === null ? '' : ` (${code})`}.`,
      })
    }
    case 'busy':
      return problemIn({
        ...common,
        type: 'upstream_error',
        code: 'model/upstream-busy',
        message: 'The upstream has no room.',
        retryAfterSeconds,
      })
    case 'timeout':
      return problemIn({
        ...common,
        type: 'upstream_error',
        code: 'model/upstream-timeout',
        message: 'The upstream did not answer in time.',
      })
    case 'unreachable':
    case 'broken':
    case 'cancelled':
      return problemIn({
        ...common,
        type: 'upstream_error',
        code: 'model/upstream-failed',
        message: 'The upstream failed.',
      })
  }
}

function refusalIn(body: Json | null, request: ChatRequest) {
  const error = fieldOf(body, 'error')
  const code = fieldOf(error, 'code')
  const param = fieldOf(error, 'param')
  return {
    code: typeof code === 'string' && toldCodes.has(code) ? code : null,
    param: typeof param === 'string' && Object.hasOwn(request, param) ? param : null,
  }
}

function fieldOf(value: Json | null | undefined, name: string): Json | undefined {
  const record = typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
  return (record as { readonly [name: string]: Json })[name]
}
