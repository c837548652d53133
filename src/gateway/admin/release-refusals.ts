import type { MiddlewareHandler } from 'hono'
import { RatchetError } from '../../errors/index.ts'
import { type AskedEnv, openKey, scopeMissing } from '../auth/index.ts'
import { GatewayError } from '../errors.ts'

/** The tenant has no such agent, or nothing was ever released of it. */
export function unknownAgent(): GatewayError {
  return new GatewayError({
    status: 404,
    type: 'invalid_request_error',
    code: 'gateway/unknown-agent',
    message: 'There is no such agent with releases.',
    hint: 'GET /ratchet/agents lists those that there are.',
    param: 'agent',
  })
}

/** Nobody in this process can say what the canary's sessions earned. */
export function judgesNoCanaries(): GatewayError {
  return new GatewayError({
    status: 409,
    type: 'invalid_request_error',
    code: 'gateway/judges-no-canaries',
    message:
      'This gateway cannot judge canaries of this agent: its configuration has no section "learn" for it, which says how sessions are rewarded.',
    hint: 'Ask the process that learns for this agent; or give the agent a section "learn" in the configuration of `ratchet serve`.',
  })
}

/** The evidence does not say that the candidate is better. */
export function notShown(action: string, reasons: readonly string[]): GatewayError {
  return new GatewayError({
    status: 409,
    type: 'invalid_request_error',
    code: 'gateway/not-promoted',
    message: `The gate says "${action}": ${reasons.join(' ')}`,
    hint: 'Only what a gate promotes is released: let it run on, or take it back.',
  })
}

/**
 * Lets in whoever may decide what serves: a key with the scope `admin`; and where the gateway asks for no key, this
 * machine, as everything here can be undone. For routes behind `asking`.
 */
export const mayDecide: MiddlewareHandler<AskedEnv> = async (c, next) => {
  const { key, scopes } = c.var.caller
  if (key !== openKey && !scopes.has('admin')) throw scopeMissing('admin', false)
  await next()
}

/** What the registry refuses, as an answer: what is not there is a 404, what cannot be now a 409. */
export async function answered<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!RatchetError.is(error) || !conflicts.test(error.code)) throw error
    const { code, message, hint } = error
    const status = code.startsWith('release/unknown-') ? 404 : 409
    throw new GatewayError({ status, type: 'invalid_request_error', code, message, hint, cause: error })
  }
}

/** Also what another process changed meanwhile. */
const conflicts = /^release\/|^store\/(?:canary-|generation-conflict)/
