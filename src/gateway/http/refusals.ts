import { GatewayError, type GatewayErrorDetails } from '../errors.ts'

/** What is wrong with a request, and how to put it right: a 400, unless `more` says otherwise. */
export function refusal(
  code: string,
  message: string,
  hint: string,
  more: Partial<Omit<GatewayErrorDetails, 'code' | 'message' | 'hint'>> = {},
): GatewayError {
  return new GatewayError({
    status: 400,
    type: 'invalid_request_error',
    code: `gateway/${code}`,
    message,
    hint,
    ...more,
  })
}
