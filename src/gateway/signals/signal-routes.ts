import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import type { SignalOutcome, SignalRepository } from '../../core/index.ts'
import { answers, refuses } from '../answers.ts'
import { type AskedEnv, asking, type AskingOptions } from '../auth/index.ts'
import type { ServeConfig } from '../config.ts'
import { GatewayError, refuseInvalid } from '../errors.ts'
import { posted } from '../http/posted.ts'
import type { Telemetry } from '../ports.ts'
import { SignalsInput } from './signal-input.ts'
import { type SignalIntake, signalsFrom } from './take-signals.ts'

/** What the signal routes need. */
export interface SignalRoutesOptions extends AskingOptions, Omit<SignalIntake, 'signals'> {
  readonly signals: SignalRepository
  readonly limits: Pick<ServeConfig['limits'], 'signalsPerTrajectory' | 'signalsPerDay' | 'signalBytesPerTrajectory'>
  readonly telemetry: Pick<Telemetry, 'signals'>
}

const Taken = z.object({
  /** In the order of the request. */
  signals: z.array(
    z.object({
      trajectory: z.string(),
      node: z.string().nullable(),
      outcome: z.enum(['recorded', 'repeated', 'capped']),
    }),
  ),
})

/** Reporters of one key that may say all they can about one trajectory: their names cost whoever holds the key nothing. */
const reportersOfKey = 8

/** Seconds: when the oldest of a day's signals may have left the window. */
const capRetrySeconds = 3_600

/**
 * `POST /ratchet/signals` (scope `signal`): evidence about an episode, at any time: before it began, while it runs, weeks
 * after its end, in any order. The answer comes when the signals are on the disk.
 *
 * What makes two reports the same signal, so that it counts once: the same `idempotencyKey` from the same key; without
 * one, the same `at` with the same content; without both, saying again what the same reporter said last of the same thing.
 * A click that is sent twice needs neither. A program that retries on its own, or reports what may truly happen twice,
 * sends one of them: else a late retry is a change of mind, and the second event is nothing new.
 *
 * A session's key speaks of its own session only (and need not name it), as its user.
 */
export function signalRoutes(options: SignalRoutesOptions): OpenAPIHono<AskedEnv> {
  const { signals, limits, telemetry, clock } = options
  const app = new OpenAPIHono<AskedEnv>({ defaultHook: refuseInvalid })
  const route = createRoute({
    method: 'post',
    path: '/ratchet/signals',
    summary: 'Report what became of an episode, now or later',
    tags: ['signals'],
    middleware: [asking(options, 'signal')],
    request: { body: posted(SignalsInput) },
    responses: {
      200: answers('What became of each signal.', Taken),
      400: refuses('A signal that cannot be taken; none was.'),
      403: refuses('The key may not report this.'),
      429: refuses('The reporter has said enough of this trajectory, or today; none was recorded.'),
    },
  })
  app.openapi(route, async (c) => {
    const body = c.req.valid('json')
    const taken = await signalsFrom(Array.isArray(body) ? body : [body], c.var.caller, options)
    const caps = {
      perTrajectory: limits.signalsPerTrajectory,
      perTrajectoryOfKey: limits.signalsPerTrajectory * reportersOfKey,
      bytesPerTrajectoryOfKey: limits.signalBytesPerTrajectory,
      perDay: limits.signalsPerDay,
    }
    const outcomes = await signals.append(taken, { caps, now: clock.now() })
    telemetry.signals(counts(outcomes))
    if (outcomes.every((outcome) => outcome === 'capped')) throw capped(caps)
    return c.json(
      {
        signals: taken.map(({ trajectory, node }, i) => ({ trajectory, node, outcome: outcomes[i] ?? 'recorded' })),
      },
      200,
    )
  })
  return app
}

function counts(outcomes: readonly SignalOutcome[]): Readonly<Record<string, number>> {
  const counted: Partial<Record<SignalOutcome, number>> = {}
  for (const outcome of outcomes) counted[outcome] = (counted[outcome] ?? 0) + 1
  return counted
}

function capped({ perTrajectory, perDay }: { readonly perTrajectory: number; readonly perDay: number }): GatewayError {
  return new GatewayError({
    status: 429,
    type: 'rate_limit_error',
    code: 'gateway/signals-capped',
    message: `The reporter has said enough: ${perTrajectory} signals of one trajectory, ${perDay} in a day, or as many bytes as one key may send of it.`,
    hint: 'Nothing was recorded. Name the `reporter` where several people report through one key.',
    retryAfterSeconds: capRetrySeconds,
  })
}
