import { z } from 'zod'
import { VersionSet } from './gate.ts'
import { CanaryId, ReceiptId, ReleaseId, RunId, TrajectoryId, VersionId } from './id.ts'
import { Json } from './json.ts'
import { ParameterName } from './parameter.ts'

/** Which of the two serves a session: what serves everybody, or what is tried. */
export const CanaryArm = z.enum(['baseline', 'candidate'])
export type CanaryArm = z.infer<typeof CanaryArm>

/**
 * Where a canary stands. `running`: its share of sessions gets the candidate. `promoted`: the candidate became a
 * release. `rolled-back`: it went back, by evidence or by hand; nobody gets it. `ended`: its time or its sessions were
 * spent without enough evidence; nobody gets it.
 */
export const CanaryStatus = z.enum(['running', 'promoted', 'rolled-back', 'ended'])
export type CanaryStatus = z.infer<typeof CanaryStatus>

/**
 * A candidate that serves a share of an agent's sessions beside the release that serves the others. It is no release:
 * only a gate makes one of it (invariant 7). At most one canary of an agent runs at a time.
 */
export const Canary = z.strictObject({
  id: CanaryId,
  agent: z.string().min(1),
  /** What served everybody else when it began: the candidate was made from it. */
  baseline: ReleaseId,
  /**
   * The new Versions that it tries: a patch. What it does not name stays as it serves, in both arms, also where that changes
   * while it runs. Canaries of before there were patches name every Parameter: what served when they began is none of theirs.
   */
  candidate: VersionSet,
  /** The offline gate's receipt that let it begin; `null` where there is no held-out suite: the evidence is the canary's alone. */
  admission: ReceiptId.nullable(),
  /** The run that made the candidate; `null` for one that was made by hand. */
  run: RunId.nullable(),
  /** Name and configuration of the gate that decides every step. */
  gate: z.strictObject({ name: z.string(), config: z.record(z.string(), Json) }),
  /** Shares of sessions that get the candidate, rising; in (0, 1]. */
  shares: z.array(z.number().positive().max(1)).min(1),
  /** Index of the share in force. */
  step: z.int().nonnegative(),
  /** Keys the hash that assigns sessions, or their persons. */
  salt: z.string().min(1),
  /**
   * The Generation that decisions of the candidate's arm carried when it began: the next one after what serves. It grows with
   * each Activation beside it.
   */
  generation: z.int().positive(),
  status: CanaryStatus,
  /** What ended it; `null` while it runs, and where it was stopped by hand. */
  receipt: ReceiptId.nullable(),
  /** One sentence: why it stands where it stands. */
  reason: z.string(),
  startedAt: z.number(),
  /** When the step in force began. */
  stepAt: z.number(),
  endedAt: z.number().nullable(),
})
export type Canary = z.infer<typeof Canary>

/** Until when a canary is watched: past it nobody gets the candidate, until somebody looks at the canary again. */
export interface CanaryWatch {
  readonly canary: CanaryId
  /** Milliseconds since the epoch; 0 for one that nobody has ever looked at. */
  readonly until: number
}

/**
 * One look at a canary, and what came of it; append-only, so that its story can be told. `changed`: a Parameter that it does
 * not try came to serve otherwise, in both arms.
 */
export const CanaryEvent = z.strictObject({
  canary: CanaryId,
  /** 0, 1, 2 … within the canary. */
  sequence: z.int().nonnegative(),
  type: z.enum(['started', 'advanced', 'held', 'unwatched', 'changed', 'promoted', 'rolled-back', 'ended']),
  /** The share of sessions that got the candidate from here on; 0 when it ended without a promotion. */
  share: z.number().min(0).max(1),
  /** One sentence each, the deciding one first. */
  reasons: z.array(z.string()),
  /** What the tests said, for people. */
  evidence: z.record(z.string(), Json),
  at: z.number(),
})
export type CanaryEvent = z.infer<typeof CanaryEvent>

/** A change of what serves, of Parameters that a canary does not try: from then on both of its arms had the new Versions. */
export const ServingChange = z.strictObject({
  /** Milliseconds since the epoch. */
  at: z.number(),
  /** What serves everybody else from then on, and its Generation. */
  release: ReleaseId,
  generation: z.int().positive(),
  /** The Parameters that changed: the Version before and after; `null` for none. */
  parameters: z.record(ParameterName, z.strictObject({ from: VersionId.nullable(), to: VersionId.nullable() })),
})
export type ServingChange = z.infer<typeof ServingChange>

/** Whether a session that could have been drawn for the audit was, and what is true of it. */
export const AuditOutcome = z.strictObject({
  /** With which it was drawn, whatever its arm. */
  probability: z.number().positive().max(1),
  drawn: z.boolean(),
  /** False for a draw that waits for its truth. */
  settled: z.boolean(),
  /** From 0, wrong, to 1, right; `null` where it was not drawn, waits, or cannot be told. */
  truth: z.number().min(0).max(1).nullable(),
  /** What a judge said, where one is asked about a part of the sessions. */
  judge: z
    .strictObject({
      /** With which it was asked, whatever the arm: at least `probability`. */
      probability: z.number().positive().max(1),
      asked: z.boolean(),
      /** From 0, wrong, to 1, right; `null` where it was not asked, said nothing yet, or nothing that can be read. */
      word: z.number().min(0).max(1).nullable(),
    })
    .exactOptional(),
})
export type AuditOutcome = z.infer<typeof AuditOutcome>

/** What one judged session of a canary showed. */
export const CanaryOutcome = z.strictObject({
  trajectory: TrajectoryId,
  arm: CanaryArm,
  /**
   * Probability with which its arm was assigned, given the sessions before it, in (0, 1]. 1: its person had been drawn
   * before, so that it compares nothing.
   */
  propensity: z.number().positive().max(1),
  /** `null` when the evidence is missing: it counts, as the worst for the candidate. */
  reward: z.number().nullable(),
  /** Guard metrics, higher is worse, for example `{ brokenCalls: 1, questionsBack: 0, tokens: 420 }`. */
  guards: z.record(z.string(), z.number()),
  /**
   * What each signal that spoke pays, in units of the reward, by its name: behaviour only where nothing was told. Left out
   * where nothing is audited.
   */
  signals: z.record(z.string(), z.number()).exactOptional(),
  /** Left out where it could not have been drawn for the audit. */
  audit: AuditOutcome.exactOptional(),
})
export type CanaryOutcome = z.infer<typeof CanaryOutcome>

/**
 * How a session of a canary was judged: once, when it was due, by what had been received by then; it never changes. What is
 * left out says why: `forbidden`: nothing may be learned from it; `unwatched`: for a while nobody looked at the canary, and
 * both arms got the baseline; `over-share`: its reporter had decided as many sessions as one may.
 */
export const JudgedSession = z.strictObject({
  ...CanaryOutcome.omit({ audit: true }).shape,
  /**
   * The draw for the audit: with which probability, and the id that it has if it was drawn. `null` where it could not be
   * drawn: nothing is audited, or as much waits for its truth as may.
   */
  audit: z
    .strictObject({
      probability: z.number().positive().max(1),
      draw: z.string().min(1).nullable(),
      /** The same of what a judge is asked about. The id is that of the draw, where it was drawn. */
      judge: z
        .strictObject({ probability: z.number().positive().max(1), draw: z.string().min(1).nullable() })
        .exactOptional(),
    })
    .nullable()
    .default(null),
  /** 0, 1, 2 … within the canary: in the order in which sessions began, those that were recorded late after others. */
  sequence: z.int().nonnegative(),
  /** When it began, in milliseconds since the epoch. */
  began: z.number(),
  /** `null` for evidence. */
  leftOut: z.enum(['forbidden', 'unwatched', 'over-share']).nullable(),
  /** Signals about it that were not heard: who reported them had decided as many sessions as one may. */
  unheard: z.int().nonnegative(),
  /** Who decided it and whose it is, as hashes that mean something in this canary alone; forgotten when it ends. */
  reporters: z.array(z.string()),
  /** Hash of what it was judged by. */
  rules: z.string(),
  /** Hash of the rubric that its `signals` are paid by, whatever else its canary reads: only what one pays is compared. */
  paidBy: z.string().exactOptional(),
})
export type JudgedSession = z.infer<typeof JudgedSession>

/** A session of a canary that was not judged yet. */
export interface UnjudgedSession {
  readonly trajectory: TrajectoryId
  /** When it began, in milliseconds since the epoch. */
  readonly began: number
  /** False when its client forbade learning from it. */
  readonly train: boolean
}

/** What served a session when it began: kept with its trajectory, so that every assignment's propensity is known. */
export const ServedBy = z.strictObject({
  /** The release that served everybody else. */
  release: ReleaseId,
  /** `null` when no canary ran. */
  canary: z.strictObject({ id: CanaryId, arm: CanaryArm, propensity: z.number().positive().max(1) }).nullable(),
})
export type ServedBy = z.infer<typeof ServedBy>
