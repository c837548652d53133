import { z } from 'zod'
import { type ErrorDetails, RatchetError } from '../errors/index.ts'

/** What a client is told in the OpenAI API's error shape. */
export interface GatewayErrorDetails extends ErrorDetails {
  readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 422 | 429 | 500 | 502 | 503 | 504
  /** The OpenAI API's `type`: what SDKs and their users look at. */
  readonly type:
    | 'invalid_request_error'
    | 'authentication_error'
    | 'permission_error'
    | 'rate_limit_error'
    | 'upstream_error'
    | 'server_error'
  /** The part of the request that is wrong, as a path. */
  readonly param?: string
  readonly retryAfterSeconds?: number
}

/** A request that the gateway refuses, or cannot answer. */
export class GatewayError extends RatchetError {
  readonly status: GatewayErrorDetails['status']
  readonly type: GatewayErrorDetails['type']
  readonly param: string | null
  readonly retryAfterSeconds: number | null

  constructor(details: GatewayErrorDetails) {
    super(details)
    this.status = details.status
    this.type = details.type
    this.param = details.param ?? null
    this.retryAfterSeconds = details.retryAfterSeconds ?? null
  }
}

/** The OpenAI API's error body: what every refusal of the gateway looks like, on every route. */
export const ErrorBody = z.object({
  error: z.object({
    /** What happened, and what to do. */
    message: z.string(),
    type: z.string(),
    /** The part of the request that is wrong, as a path. */
    param: z.string().nullable(),
    /** Stable and machine-readable, `room/kind`. */
    code: z.string().nullable(),
    /** What to do, apart from the message that has it too. */
    hint: z.string().optional(),
  }),
})
export type ErrorBody = z.infer<typeof ErrorBody>

/** The first thing that is wrong, as deep as it is known: of a union, the kind that was probably meant. */
function deepestIssue(issue: z.core.$ZodIssue, base: readonly PropertyKey[]): { path: string; problem: string } {
  const path = [...base, ...issue.path]
  let problem = issue.message
  if (issue.code === 'invalid_union') {
    const firsts = issue.errors.map(([first]) => first).filter((first) => first !== undefined)
    const meant = firsts
      // A kind whose tag is another was not meant.
      .toSorted((a, b) => Number(a.code === 'invalid_value') - Number(b.code === 'invalid_value'))
      .find((first) => first.path.length > 0 || first.code !== 'invalid_type')
    if (meant) return deepestIssue(meant, path)
    const kinds = new Set(firsts.map((first) => (first.code === 'invalid_type' ? first.expected : null)))
    if (!kinds.has(null)) problem = `expected ${[...kinds].join(' or ')}`
  }
  // Names and values in it are the client's, of any length.
  return { path: path.map(String).join('.').slice(0, 200), problem: problem.slice(0, 500) }
}

/**
 * Refuses a request part that its schema refuses; the `defaultHook` of every route app.
 * @throws GatewayError 400 that names the part.
 */
export function refuseInvalid(
  result: { readonly target: string } & (
    | { readonly success: true }
    | { readonly success: false; readonly error: z.core.$ZodError }
  ),
): void {
  if (result.success) return
  const [first] = result.error.issues
  const { path, problem } = first ? deepestIssue(first, []) : { path: '', problem: 'it does not fit' }
  const where = result.target === 'json' ? 'body' : result.target
  throw new GatewayError({
    status: 400,
    type: 'invalid_request_error',
    code: 'gateway/invalid-request',
    message: `The request's ${where} is not valid${path ? ` at ${path}` : ''}: ${problem.replace(/\.$/, '')}.`,
    hint: 'Nothing was done: correct it and send it again. GET /openapi.json describes every request.',
    ...(path && { param: path }),
  })
}
