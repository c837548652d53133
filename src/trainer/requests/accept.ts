import { randomUUID } from 'node:crypto'
import { sha256 } from '../../core/index.ts'
import { absent, requestError } from '../errors.ts'
import type { TrainerHost } from '../host.ts'
import type { StoredModel, StoredRequest, StoredSampler, StoredSession, Work } from '../journal/events.ts'
import { inTurn } from './in-turn.ts'

/** What is asked, of whom, under which number. */
export interface Asked {
  readonly owner: string
  readonly subject: StoredRequest['subject']
  readonly seq: number | null
  readonly work: Work
  /** What was asked, by which a repeated request is known: the work may hold what was drawn here. */
  readonly body: unknown
  /** Of a request that makes one. */
  readonly model?: StoredModel
  /** Refuses it, if it is not a repeated one. */
  readonly guard?: () => void
}

/**
 * Takes a request: from when this resolves, it is done, once. The same request under the same number is the one before.
 * @throws TrainerRequestError 409 for another request under the same number, 400 for a number that was passed.
 */
export async function accept(host: TrainerHost, asked: Asked): Promise<string> {
  const { subject, seq } = asked
  if (seq === null) return write(host, asked)
  return inTurn(host, `${subject.kind} ${subject.id} ${seq}`, () => write(host, asked))
}

async function write(host: TrainerHost, { owner, subject, seq, work, body, model, guard }: Asked): Promise<string> {
  const hash = hashOf([work.kind, body])
  const before = host.state.withSeq(subject, seq)
  if (before !== null && before.request.hash === hash) return before.request.id
  if (before !== null && subject.kind === 'model') {
    throw requestError(
      'number-reused',
      `Another request of the model ${subject.id} has the number ${seq}.`,
      'Number the requests of a model from 1 on, and repeat a request as it was.',
      { status: 409, field: 'seq_id' },
    )
  }
  const passed = subject.kind === 'model' ? host.passed(subject.id) : -1
  if (seq !== null && seq <= passed) {
    throw requestError(
      'number-passed',
      `The model ${subject.id} has begun request ${passed}, and ${seq} comes before it.`,
      'Send requests in the order of their numbers; only passes before a step may overtake each other.',
      { field: 'seq_id' },
    )
  }
  guard?.()
  refuseTooMany(host, owner)
  const request: StoredRequest = { id: randomUUID(), owner, subject, seq, hash, work }
  await host.append({ type: 'accepted', request, ...(model === undefined ? {} : { model }) })
  return request.id
}

function refuseTooMany(host: TrainerHost, owner: string): void {
  let waiting = 0
  for (const { request, outcome } of host.state.requests.values()) {
    if (outcome === null && request.owner === owner) waiting += 1
  }
  if (waiting < host.limits.waiting) return
  throw requestError('too-many-requests', `${waiting} requests of this key wait.`, 'Wait for some results first.', {
    status: 429,
  })
}

const hashOf = (body: unknown): string => sha256(JSON.stringify(body))

/** A session of this owner. @throws TrainerRequestError 404 */
export function sessionOf(host: TrainerHost, owner: string, id: string): StoredSession {
  const session = host.state.sessions.get(id)
  if (session?.owner === owner) return session
  throw absent('session', id, 'session_id')
}

/** A model of this owner. @throws TrainerRequestError 404 */
export function modelOf(host: TrainerHost, owner: string, id: string): StoredModel {
  const held = host.state.models.get(id)
  if (held?.model.owner === owner) return held.model
  throw absent('model', id, 'model_id')
}

/** A sampling session of this owner. @throws TrainerRequestError 404 */
export function samplerOf(host: TrainerHost, owner: string, id: string): StoredSampler {
  const sampler = host.state.samplers.get(id)
  if (sampler?.owner === owner) return sampler
  throw absent('sampling session', id, 'sampling_session_id')
}
