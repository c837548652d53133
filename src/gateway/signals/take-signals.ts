import {
  type Clock,
  ClientName,
  Json,
  NodeId,
  type Signal,
  type SignalRepository,
  type Tenant,
  TrajectoryId,
} from '../../core/index.ts'
import { type SignalReading, saysNothing } from '../../reward/index.ts'
import { notForSessions } from '../auth/index.ts'
import { GatewayError } from '../errors.ts'
import type { Caller } from '../ports.ts'
import { longestName, type SignalInput } from './signal-input.ts'
import { keyOfClient, keyOfMoment, LastSaid, type UnkeyedSignal } from './signal-key.ts'
import { type SignalTarget, targetOf } from './target.ts'

/** How far a client's clock may be ahead of ours. */
const skewMs = 5 * 60_000

/** What stands for what must not be written. */
export interface Redacting {
  /** Takes out what must not be written, before anything is made of it. */
  readonly redact: (value: Json) => Json
  /** What stands for a person's name that must not be written. */
  readonly redactName: (name: string, tenant: Tenant) => string
  /** What stands for an id that must not be written. */
  readonly redactId: (id: string) => string
}

/** What turns reports into signals. */
export interface SignalIntake {
  readonly signals: Pick<SignalRepository, 'last'>
  readonly clock: Clock
  /** Runs what redacts, in parts that keep nobody waiting: it may run several times. */
  readonly redacting: <T>(read: (by: Redacting) => T) => Promise<T>
  /** How agents' rubrics read signals, by the name. */
  readonly readings: readonly Readonly<Record<string, SignalReading>>[]
}

/**
 * The signals that a client's reports are, each with the key by which it is known again.
 * @throws GatewayError 400 or 403 when one of them cannot be taken: then none is.
 */
export async function signalsFrom(
  inputs: readonly SignalInput[],
  caller: Caller,
  { signals, clock, readings, redacting }: SignalIntake,
): Promise<readonly Signal[]> {
  const now = clock.now()
  inputs.forEach((input, i) => {
    if (saysNothing(input, readings)) throw worthless(input.name, inputs.length > 1 ? `${i}.value` : 'value')
  })
  const reports = await redacting((by) =>
    inputs.map((input, i) => ({
      input,
      signal: unkeyed(input, caller, { now, at: inputs.length > 1 ? `${i}.` : '', ...by }),
    })),
  )
  const last = new LastSaid(signals)
  await last.read(reports.filter(({ input }) => isSaying(input)).map(({ signal }) => signal))
  return reports.map(({ input, signal }) => {
    const keyed: Signal = { ...signal, key: keyFor(input, signal, caller, last) }
    last.note(keyed)
    return keyed
  })
}

/** Whether a report is known again only by what it says. */
const isSaying = ({ idempotencyKey, at }: SignalInput) => idempotencyKey === undefined && at === undefined

function keyFor(input: SignalInput, signal: UnkeyedSignal, { key }: Caller, last: LastSaid): string {
  if (input.idempotencyKey !== undefined) return keyOfClient(key, input.idempotencyKey)
  return input.at === undefined ? last.keyOf(signal) : keyOfMoment(signal)
}

function unkeyed(
  input: SignalInput,
  caller: Caller,
  { now, at, redact, redactName, redactId }: { readonly now: number; readonly at: string } & Redacting,
): UnkeyedSignal {
  // Who holds a session's key is that session's user: not their backend, and no judge of their own case.
  if (caller.session !== null && input.source !== 'user') throw notForSessions(`report as "${input.source}"`)
  if (caller.session !== null && input.reporter !== undefined) throw notForSessions('name who reports')
  if (input.at !== undefined && input.at > now + skewMs) throw fromTheFuture(`${at}at`)
  return {
    tenant: caller.tenant,
    ...writable(targetOf(input, caller, at), redactId),
    source: input.source,
    reporter: reporterOf(input, caller, redactName),
    name: nameOf(input, redact),
    value: redact(Json.parse(input.value)),
    at: input.at ?? now,
  }
}

/** Ids of the gateway's own never change; a client may make up others. */
function writable({ trajectory, node }: SignalTarget, redactId: Redacting['redactId']): SignalTarget {
  return {
    trajectory: TrajectoryId.parse(redactId(trajectory)),
    node: node === null ? null : NodeId.parse(redactId(node)),
  }
}

/** What was measured. What stands for a part of it may be longer than that was. */
function nameOf({ name }: SignalInput, redact: Redacting['redact']): string {
  const redacted = redact(name)
  return typeof redacted === 'string' ? redacted.slice(0, longestName) : name
}

/**
 * Who says it: the key, or who it names, under the key. A session's key is one of those that its maker answers for: however
 * many keys it makes, they share what may be said.
 */
function reporterOf(
  { reporter }: SignalInput,
  { tenant, key, parent }: Caller,
  redactName: Redacting['redactName'],
): string {
  if (reporter !== undefined) return ClientName.parse(`${key}:${redactName(reporter, tenant)}`)
  return ClientName.parse(parent ? `${parent.key}:${key}` : key)
}

function worthless(name: string, param: string): GatewayError {
  return new GatewayError({
    status: 400,
    type: 'invalid_request_error',
    code: 'gateway/invalid-signal',
    message: `The signal's words (${param}) are worth nothing under the name "${name}": no reward could be made of them.`,
    hint: `Send true, false or a number. Or say what the words are worth, in the configuration: rubric.signals.${name}.values.`,
    param,
  })
}

function fromTheFuture(param: string): GatewayError {
  return new GatewayError({
    status: 400,
    type: 'invalid_request_error',
    code: 'gateway/signal-from-the-future',
    message: `The signal's time (${param}) has not come yet.`,
    hint: 'Give milliseconds since the epoch by a clock that is right, or leave it out: then it is now.',
    param,
  })
}
