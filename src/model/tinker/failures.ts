import { InputError } from '../../errors/index.ts'
import { TinkerError } from './tinker-error.ts'

/** One page of every way in which a Tinker server fails, in words. None holds a key, a header or a request's body. */

/** @param heldBack why the server held it back until then; `null` where it did not. */
export const cancelled = (request: string, heldBack: string | null = null): TinkerError =>
  new TinkerError({
    code: 'model/tinker-cancelled',
    message:
      heldBack === null
        ? `The request ${request} to the Tinker server was cancelled.`
        : `The Tinker server held ${request} back until it was cancelled: ${heldBack}.`,
    hint: 'Do nothing: the caller left, or the model was closed.',
  })

const triesOf = (count: number) => (count === 1 ? '1 try' : `${count} tries`)

/** No answer after every try. @param why ends the sentence "The Tinker server did not answer …: …". */
export const unreachable = (request: string, tries: number, why: string): TinkerError =>
  new TinkerError({
    code: 'model/tinker-unreachable',
    message: `The Tinker server did not answer ${request} in ${triesOf(tries)}: ${why}`,
    hint: 'Check that it runs and that its address is right. A run that ended goes on from its last checkpoint.',
  })

/** The server's own failure, after every try. */
export const unavailable = (request: string, status: number, tries: number, detail: string | null): TinkerError =>
  new TinkerError({
    code: 'model/tinker-unavailable',
    status,
    message: `The Tinker server answered ${request} with ${status} in ${triesOf(tries)}${said(detail)}`,
    hint: 'Look into its log. A run that ended goes on from its last checkpoint.',
  })

/** The server refuses a request, and would again. */
export function refused(request: string, status: number, detail: string | null): TinkerError {
  const hint =
    status === 401 || status === 403
      ? 'Give the key of this server as TINKER_API_KEY (in a program: apiKey).'
      : status === 404
        ? 'Check that url is the root of the server, before /api/v1, and that it has not lost what is asked for.'
        : 'Correct what it names; if it names nothing that you gave, report the versions of both sides.'
  const message = `The Tinker server refused ${request} with ${status}${said(detail)}`
  return new TinkerError({ code: 'model/tinker-refused', status, request, message, hint })
}

/** A request that was accepted has failed. */
export const failed = (request: string, detail: string): TinkerError =>
  new TinkerError({
    code: 'model/tinker-failed',
    message: `The Tinker server accepted ${request} and failed at it: ${detail}`,
    hint: 'Read its words and its log; a server that restarted has lost its models. A run that ended goes on from its last checkpoint.',
  })

/** @param problem ends the sentence "… answered X with …"; it names the field. */
export const malformed = (request: string, problem: string, cause?: unknown): TinkerError =>
  new TinkerError({
    code: 'model/tinker-malformed',
    message: `The Tinker server answered ${request} with ${problem}.`,
    hint: 'Nothing of the answer was used. Check that its version is among those that docs/trainers.md names.',
    cause,
  })

export const overdue = (request: string, milliseconds: number): TinkerError =>
  new TinkerError({
    code: 'model/tinker-timeout',
    message: `The Tinker server had no result of ${request} after ${milliseconds} ms.`,
    hint: 'Look whether it works on it; if it needs that long, raise resultTimeoutMs (of a gateway: firstByteTimeoutMs). A run that ended goes on from its last checkpoint.',
  })

/** A gradient of which nobody knows how much is accumulated. */
export const gradientLost = (cause: unknown): TinkerError =>
  new TinkerError({
    code: 'model/tinker-gradient-lost',
    message: 'A part of the gradient was lost on its way, and the Tinker protocol cannot clear the rest.',
    hint: 'Load the last state (a resumed run does): it begins with an empty gradient.',
    cause,
  })

export const diverged = (metric: string): TinkerError =>
  new TinkerError({
    code: 'model/tinker-diverged',
    message: `The optimizer step was not finite: the Tinker server reports no number as ${metric}.`,
    hint: 'The server has applied the step: load the last state, and train on with a smaller learning rate.',
  })

export const closed = (): TinkerError =>
  new TinkerError({
    code: 'model/tinker-closed',
    message: 'This trainer was closed, or the model that it trains was.',
    hint: 'Open another trainer.',
  })

/** Something that the protocol has no words for. */
export const unsupported = (what: string, hint: string): InputError =>
  new InputError({ code: 'model/tinker-unsupported', message: `A Tinker server cannot do this: ${what}`, hint })

export const notAPath = (what: string): InputError =>
  new InputError({
    code: 'model/tinker-path',
    message: `This cannot be loaded by a Tinker server: ${what}`,
    hint: 'Give what a trainer at this server saved, as tinker://RUN/weights/NAME.',
  })

const longest = 500

/** A server's words at the end of a sentence. */
const said = (detail: string | null): string =>
  detail === null ? '.' : `: ${detail.length > longest ? `${detail.slice(0, longest)}…` : detail}`
