import { HTTPException } from 'hono/http-exception'
import type { Json, UpstreamFailure } from '../../core/index.ts'
import { RatchetError } from '../../errors/index.ts'
import { isUnservedAdapter, isUpstreamFailure } from '../../model/openai/index.ts'
import { type ErrorBody, GatewayError } from '../errors.ts'

/** What a client is told when a request fails, in the OpenAI API's error shape. */
export interface Problem {
  readonly status: number
  readonly body: Json
  readonly headers: Readonly<Record<string, string>>
  /** For records and logs. */
  readonly code: string
  readonly message: string
}

interface Told {
  readonly status: number
  readonly type: string
  readonly code: string
  readonly message: string
  readonly hint: string
  readonly param?: string | null
  readonly retryAfterSeconds?: number | null
}

/** A problem as it is told, from its parts. */
export function problemIn({
  status,
  type,
  code,
  message,
  hint,
  param = null,
  retryAfterSeconds = null,
}: Told): Problem {
  // SDKs show their users the message alone.
  const body: ErrorBody = { error: { message: `${message} ${hint}`, type, param, code, hint } }
  return {
    status,
    body: body as Json,
    headers: retryHeader(retryAfterSeconds),
    code,
    message,
  }
}

const retryHeader = (seconds: number | null): Record<string, string> =>
  seconds === null ? {} : { 'retry-after': String(Math.max(1, Math.ceil(seconds))) }

/** Any failure, as a client is told of it. What is nobody's business (paths, stacks) is left to the log. */
export function problemOf(error: unknown): Problem {
  if (error instanceof HTTPException) return ofHono(error)
  if (!RatchetError.is(error)) return unexpected
  if (isUpstreamFailure(error)) return ofUpstream(error)
  if (isGatewayError(error)) return problemIn(error)
  if (error.code.startsWith('store/')) return ofStore(error)
  if (error.code.startsWith('input/')) return problemIn({ ...told(error), status: 400, type: 'invalid_request_error' })
  return unexpected
}

const told = ({ code, message, hint }: RatchetError) => ({ code, message, hint })

const isGatewayError = (error: RatchetError): error is GatewayError => error instanceof GatewayError

const unexpected = problemIn({
  status: 500,
  type: 'server_error',
  code: 'gateway/unexpected',
  message: 'The gateway failed in a way that it does not expect.',
  hint: "This is a defect: please report it with the gateway's log.",
})

const ofStore = ({ code }: RatchetError): Problem =>
  problemIn({
    status: 503,
    type: 'server_error',
    code,
    message: 'The call could not be recorded, and this gateway answers only what it has recorded.',
    hint: "Try again; the gateway's log says what its store lacks.",
    retryAfterSeconds: 1,
  })

function ofHono({ status, message }: HTTPException): Problem {
  return problemIn({
    status,
    type: status < 500 ? 'invalid_request_error' : 'server_error',
    code: 'gateway/invalid-request',
    message: message || 'The request cannot be read.',
    hint: 'Compare it with /openapi.json.',
  })
}

/** A refusal goes on as the upstream worded it; what else goes wrong behind the gateway is a gateway's status. */
function ofUpstream(error: UpstreamFailure): Problem {
  const status = statusOf(error)
  const own = problemIn({
    ...told(error),
    status,
    type: status < 500 && error.kind === 'refused' ? 'invalid_request_error' : 'upstream_error',
    retryAfterSeconds: error.retryAfterSeconds ?? (error.kind === 'busy' ? 1 : null),
  })
  const passOn = (error.kind === 'refused' || error.kind === 'busy') && error.body !== null
  return passOn ? { ...own, body: error.body } : own
}

function statusOf(error: UpstreamFailure): number {
  const { kind, status } = error
  // Whatever serves there, the client asked for nothing wrong.
  if (isUnservedAdapter(error)) return 502
  switch (kind) {
    case 'refused':
      return status !== null && status >= 400 && status < 500 ? status : 400
    case 'busy':
      return status === 503 ? 503 : 429
    case 'timeout':
      return 504
    case 'unreachable':
    case 'broken':
      return 502
    case 'cancelled':
      return 503
  }
}

/** The error object of a problem, for streams: their clients look for it whatever an upstream's own shape is. */
export function errorIn({ body, code, message }: Problem): Json {
  const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined
  return error ?? { message, type: 'upstream_error', param: null, code }
}

/** A problem as an HTTP response. */
export function problemResponse(
  { status, body, headers }: Problem,
  more: Readonly<Record<string, string>> = {},
): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', ...headers, ...more },
  })
}
