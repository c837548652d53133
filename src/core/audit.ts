import { z } from 'zod'
import type { CanaryId, TrajectoryId } from './id.ts'
import { ClientName, defaultTenant, Tenant } from './tenant.ts'

/**
 * Who says what is true of a session: a person; a program over the trajectory and its final state; or what happened later,
 * as a trusted key reports it. None of them can be pleased by the agent. `judge`: a model, which can, so that alone it
 * promotes nothing.
 */
export const AuditSource = z.enum(['person', 'verifier', 'outcome', 'judge'])
export type AuditSource = z.infer<typeof AuditSource>

/** How a random sample of a canary's sessions is judged by truth. */
export const Audit = z
  .strictObject({
    /**
     * Probability with which a session is drawn, in both arms alike, at the share at which a label tells most. Earlier
     * steps of the ramp draw fewer.
     */
    share: z.number().positive().max(1),
    by: AuditSource,
    /** With `outcome`: the signal that tells, how long after its session it counts, and the keys that may send it. */
    outcome: z
      .strictObject({
        signal: z.string().min(1).max(128),
        withinMs: z.number().positive(),
        from: z.array(ClientName).min(1),
      })
      .nullable()
      .default(null),
    /**
     * A model that says of many more sessions what it thinks of them: a covariate of the truth, which `by` tells of those
     * among them that are drawn. With which probability it is asked, as `share`; and what it is: another one is another audit.
     * With `by` "judge" it is alone.
     */
    judge: z
      .strictObject({ share: z.number().positive().max(1), model: z.string().min(1) })
      .nullable()
      .default(null),
    /** People whose labels a draw needs; where their middle disagrees, one more. Programs judge alone. */
    reviewers: z.int().min(1).max(9).default(1),
    /** Keys whose names are people, and single reviewers (`key:name`): all names of another key are one reviewer. */
    trusted: z.array(ClientName).default([]),
    /** Nothing more is drawn while so many draws wait for their truth. */
    queue: z.int().positive().max(10_000).default(50),
    /**
     * How long the oldest draw may wait until people are told that the source of truth is dead; and reviewers who contradict
     * each other for one who decides it: then it cannot be told.
     */
    patienceMs: z.number().positive().default(259_200_000),
    /** Draws that were judged without showing a gain or a harm, after which the canary is given up. */
    maxLabels: z.int().positive().max(100_000).default(1_000),
  })
  .refine(({ by, outcome }) => (by === 'outcome') === (outcome !== null), {
    path: ['outcome'],
    error: 'by "outcome" needs the outcome (signal, within, from), and nothing else takes one',
  })
  .refine(({ share, judge }) => judge === null || judge.share >= share, {
    path: ['judge'],
    error: 'a judge is asked about all that are labelled',
  })
export type Audit = z.infer<typeof Audit>

/** What one reviewer says of a session that was drawn. */
export const AuditLabel = z.strictObject({
  tenant: Tenant.default(defaultTenant),
  draw: z.string().min(1),
  /** Who says so: a key, or whom it names (`<key>:<name>`); a verifier or an outcome. One label each for a draw. */
  reviewer: ClientName,
  by: AuditSource,
  /** From 0, wrong, to 1, right. `null`: it cannot be told, which is missing evidence and never 0. */
  truth: z.number().min(0).max(1).nullable(),
  /** Why, for people. */
  note: z.string().max(2_000),
  at: z.number(),
  /** When it was taken back, as its key was stolen; it counts no more. */
  withdrawnAt: z.number().nullable(),
})
export type AuditLabel = z.infer<typeof AuditLabel>

/** What the ids of draws begin with that only a judge is asked about. */
export const JUDGE_ALONE = 'judge-'

/** A session of a canary that was drawn, and what was said of it. */
export interface AuditDraw {
  /** Tells nothing of the session: neither its trajectory nor its arm. */
  readonly id: string
  readonly canary: CanaryId
  /** Of the judged session: draws are in the order in which sessions began. */
  readonly sequence: number
  /** Named `erased-` and the sequence once it was removed. */
  readonly trajectory: TrajectoryId
  /** When its session began, in milliseconds since the epoch. */
  readonly at: number
  /** By reviewer. */
  readonly labels: readonly AuditLabel[]
}

/** What became of a label: `repeated`: it said so before; `changed`: it said otherwise, and the last word counts. */
export type LabelOutcome = 'recorded' | 'repeated' | 'changed'
