import type { GatewayError } from '../errors.ts'
import { refusal } from '../http/refusals.ts'
import type { ResponsesRequest } from './responses-request.ts'

/** What needs a server that remembers answers or works on its own, and what to do without it. */
const stateful: Readonly<Record<string, string>> = {
  previous_response_id:
    'Send the conversation so far in `input`, with the output items of earlier responses as they came.',
  conversation: 'Send the conversation so far in `input`, with the output items of earlier responses as they came.',
  background: 'Leave it out, and read the answer as it comes, with `stream: true` where it takes long.',
  prompt: "Send the prompt's text in `instructions` and `input`.",
}

/**
 * Refuses what only a server with a memory can do.
 * @throws GatewayError 400.
 */
export function refuseStateful(request: ResponsesRequest): void {
  for (const [field, instead] of Object.entries(stateful)) {
    const value = request[field]
    if (value === undefined || value === null || value === false) continue
    throw refusal('stateless', `This gateway keeps no responses, so it cannot serve "${field}".`, instead, {
      param: field,
    })
  }
}

/** A kind of thing that no chat model behind this gateway can be told of. */
export function unsupported(what: string, type: string, param: string, hint: string): GatewayError {
  return refusal('unsupported', `${what} of the type "${type.slice(0, 100)}" is not supported.`, hint, { param })
}
