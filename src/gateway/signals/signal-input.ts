import { z } from 'zod'
import { ClientName, NodeId, SignalValue, TrajectoryId } from '../../core/index.ts'

/** Signals of one request. */
export const mostSignals = 1_000

/** Characters of one value, as JSON: a conversation fits, an archive does not. */
const mostCharacters = 1_048_576

/** Ids from outside: printable, so that every database can hold them. */
export const OutsideTrajectoryId = ClientName.pipe(TrajectoryId)
const OutsideNodeId = ClientName.pipe(NodeId)

/** Characters of what was measured. */
export const longestName = 128

/** Milliseconds that are seconds are the commonest mistake: as milliseconds they lie before 1974. */
const Moment = z
  .int()
  .min(100_000_000_000, 'milliseconds since the epoch, not seconds')
  .max(8_640_000_000_000_000, 'milliseconds since the epoch')

/**
 * One piece of evidence, as a client reports it. What it is about is told in one of three ways: by `trajectory` (with
 * `node` for one message of it), by `session`, or by `response`, the id of an answer.
 */
export const SignalInput = z
  .strictObject({
    /** The trajectory, by its own id. */
    trajectory: OutsideTrajectoryId.optional(),
    /** One message of that trajectory. */
    node: OutsideNodeId.optional(),
    /** The trajectory, by the client's own name for the episode. */
    session: ClientName.optional(),
    /** One answer, by the id that it came with: `chatcmpl-…` or `resp_…`. */
    response: ClientName.optional(),
    /** What was measured: `thumbs`, `solved`, `refund`. */
    name: ClientName.max(longestName),
    /** A number, a yes or no, words, a demonstration, or the answer as a person edited it. */
    value: SignalValue.refine(
      (value) => JSON.stringify(value).length <= mostCharacters,
      `at most ${mostCharacters} characters of JSON`,
    ),
    /** Who can know it. Guards are the gateway's own. */
    source: z.enum(['user', 'outcome', 'judge', 'verifier']).default('user'),
    /** Who says it, as the client names its people: each may say so much. Kept as `<key>:<reporter>`. */
    reporter: ClientName.max(180).optional(),
    /** The same key again is the same signal: sent twice, it counts once. */
    idempotencyKey: ClientName.optional(),
    /** When it happened, in milliseconds since the epoch; now by default. Any past is fine. */
    at: Moment.optional(),
  })
  .superRefine(({ trajectory, node, session, response }, context) => {
    const targets = [trajectory, session, response].filter((target) => target !== undefined).length
    if (targets > 1) {
      context.addIssue({ code: 'custom', message: 'name one of trajectory, session and response, not several' })
    }
    if (node !== undefined && trajectory === undefined) {
      context.addIssue({ code: 'custom', path: ['node'], message: 'a node is named together with its trajectory' })
    }
  })
export type SignalInput = z.infer<typeof SignalInput>

/** The body of `POST /ratchet/signals`: one, or several that are taken together or not at all. */
export const SignalsInput = z.union([SignalInput, z.array(SignalInput).min(1).max(mostSignals)])
export type SignalsInput = z.infer<typeof SignalsInput>
