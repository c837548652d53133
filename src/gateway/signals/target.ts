import type { NodeId, Tenant, TrajectoryId } from '../../core/index.ts'
import { notForSessions } from '../auth/index.ts'
import { readResponseId, trajectoryOfSession } from '../episode/ids.ts'
import { GatewayError } from '../errors.ts'
import type { Caller } from '../ports.ts'
import type { SignalInput } from './signal-input.ts'

/** What a signal is about. */
export interface SignalTarget {
  readonly trajectory: TrajectoryId
  readonly node: NodeId | null
}

/**
 * Finds what a signal is about, from what it says alone: nothing is looked up, so that evidence may come first, and so
 * that the answer is the same whether or not there is such a trajectory, of this tenant or of another.
 * @param at where the signal is in the request, for messages.
 * @throws GatewayError 400 for a signal about nothing, 403 where a session's key speaks of another session.
 */
export function targetOf(input: SignalInput, caller: Pick<Caller, 'tenant' | 'session'>, at: string): SignalTarget {
  const own = caller.session === null ? null : trajectoryOfSession(caller.tenant, caller.session)
  const target = named(input, caller.tenant, at) ?? (own === null ? null : { trajectory: own, node: null })
  if (target === null) {
    throw invalid(at, 'says nothing that it is about', 'Name a trajectory, a session, or the id of a response.')
  }
  if (own !== null && target.trajectory !== own) throw notForSessions('send signals about other sessions')
  return target
}

function named(input: SignalInput, tenant: Tenant, at: string): SignalTarget | null {
  if (input.trajectory !== undefined) return { trajectory: input.trajectory, node: input.node ?? null }
  if (input.session !== undefined) return { trajectory: trajectoryOfSession(tenant, input.session), node: null }
  if (input.response === undefined) return null
  const answer = readResponseId(input.response)
  if (answer) return { trajectory: answer.trajectory, node: answer.node }
  throw invalid(
    `${at}response`,
    'is not the id of an answer of this gateway',
    'Take the `id` of the answer that the gateway gave; the ids of its upstreams are not known.',
  )
}

function invalid(at: string, problem: string, hint: string): GatewayError {
  const param = at.replace(/\.$/, '')
  return new GatewayError({
    status: 400,
    type: 'invalid_request_error',
    code: 'gateway/invalid-signal',
    message: `The signal${param ? ` at ${param}` : ''} ${problem}.`,
    hint,
    ...(param && { param }),
  })
}
