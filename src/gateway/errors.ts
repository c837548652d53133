import { type ErrorDetails, RatchetError } from '../errors/index.ts'

/** What a client is told in the OpenAI API's error shape. */
export interface GatewayErrorDetails extends ErrorDetails {
  readonly status: 400 | 401 | 403 | 404 | 409 | 413 | 415 | 422 | 429 | 500 | 502 | 503 | 504
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
