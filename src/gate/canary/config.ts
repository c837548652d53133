import { z } from 'zod'
import { Audit, CandidateLevel, LifetimeAlpha } from '../../core/index.ts'
import { GateError } from '../errors.ts'

/** A metric per session that must not get worse by so much in its own unit; higher is worse. */
export const BoundedGuard = z.strictObject({
  /** How much higher, in the metric's own unit, the candidate's mean may be than the baseline's. */
  tolerance: z.number().nonnegative().default(0),
  /**
   * Values outside are clipped to it: the test needs bounds, and one wild session must not decide. Declare it tightly:
   * a shift that is small beside the range takes long to see.
   */
  range: z.tuple([z.number(), z.number()]).refine(([low, high]) => low < high, 'the range must be [low, high]'),
})

/**
 * A metric from 0 on, whatever its scale, that must not rise by more than this share of what serves: 0.5 tolerates half as
 * much again.
 */
export const RelativeGuard = z.strictObject({ relative: z.number().nonnegative() })
export type RelativeGuard = z.infer<typeof RelativeGuard>

export const CanaryGuard = z.union([BoundedGuard, RelativeGuard])
export type CanaryGuard = z.infer<typeof CanaryGuard>

const MISSING = 'missing'
/** Above this, what is missing could hide more than a canary looks for. */
const MOST_MISSING_UNDER_NEUTRAL = 0.1

export const CanaryConfig = z
  .strictObject({
    /**
     * Shares of sessions that get the candidate, rising. A last share of 1 stands for the promotion itself: without a
     * baseline beside it nothing is compared, so the last share below 1 decides.
     */
    shares: z
      .array(z.number().positive().max(1))
      .min(1)
      .refine((shares) => shares.every((share, i) => i === 0 || share > (shares[i - 1] ?? 0)), 'shares must rise')
      .refine(([first = 1]) => first < 1, 'with share 1 only there is no baseline to compare with')
      .default([0.01, 0.1, 0.5, 1]),
    /**
     * Judged candidate sessions of a step before the next share; and of the whole canary before a promotion, so that
     * guards have had the time to see.
     */
    sessionsPerStep: z.int().positive().default(50),
    /**
     * Judged candidate sessions of one step after which a canary that neither goes up nor down is given up. Those of people
     * who are evidence already count here, too, of all steps.
     */
    maxSessions: z.int().positive().default(2000),
    /**
     * The candidate's mean reward must be shown to exceed the baseline's by more than this, in units of the reward.
     * Negative: not to be lower by more than that; `tolerance` must then be as large.
     */
    margin: z.number().default(0),
    /** Probability of a false promotion of one candidate, at most, however often it is looked at. */
    alpha: z.number().positive().max(0.25).default(0.05),
    /** What all candidates of the agent may spend together: a canary has the smaller of both. `null`: no bound. */
    lifetime: LifetimeAlpha.nullable().prefault({}),
    /** The canary goes back when the candidate's mean reward is shown to be lower by more than this. */
    tolerance: z.number().nonnegative().default(0),
    /** Probability of going back for its rewards, at most, of a candidate that is no worse than tolerated. */
    alphaHarm: z.number().positive().max(0.25).default(0.05),
    /** Metrics that must not get worse, by the names they have in the sessions. */
    guards: z
      .record(z.string().min(1), CanaryGuard)
      .refine((guards) => !(MISSING in guards), `the guard ${MISSING} is built in; set missingTolerance`)
      .default({}),
    /** Whether relative guards also compare how many sessions are far above what is usual: a few that are very dear. */
    tails: z.boolean().default(true),
    /** Probability of going back for any guard, at most, of a candidate whose guards are all as tolerated. */
    alphaGuard: z.number().positive().max(0.25).default(0.05),
    /**
     * What a missing reward counts as where a gain is to be shown. `worst`: the candidate's as the lowest reward, the
     * baseline's as the highest. `neutral`: left out in both arms, and the gain must also show where each counts as the lowest,
     * so that whoever hides failures gains nothing.
     */
    missing: z.enum(['worst', 'neutral']).default('worst'),
    /** How much higher the candidate's share of sessions without reward may be: the built-in guard `missing`. */
    missingTolerance: z.number().nonnegative().max(1).default(0),
    /**
     * Whose excess of missing rewards counts against it. `either`: a gain that only leaving them out shows is none, nor is a
     * harm where the baseline is shown to miss more. `candidate`: of gates from before both directions were tested.
     */
    excess: z.enum(['candidate', 'either']).default('either'),
    /**
     * What a promotion rests on. `truth`: held-out tasks that the candidate passed before, or the audit. `behaviour-only`:
     * without these, what people do is enough, which an agent can learn to please.
     */
    promote: z.enum(['truth', 'behaviour-only']).default('truth'),
    /**
     * Whose sessions all get one arm: people whom keys name that the owner trusts (or single ones, as `key:name`). A person
     * is evidence once at each share. `null`: each session is drawn by itself.
     */
    people: z
      .strictObject({ trusted: z.array(z.string().min(1)) })
      .nullable()
      .default(null),
    /** A random sample of the sessions is judged by truth, which then decides; `null`: none is. */
    audit: Audit.nullable().default(null),
    /**
     * With an audit: the canary goes back when the candidate's reward is shown to have gained more than its truth by over
     * `margin`, both from 0 to 1, the truth is not estimated to gain, and was never shown to. `alpha`: probability of that, at most, where it did
     * not. `null`: it is not tested, as in gates from before this was.
     */
    goodhart: z
      .strictObject({
        margin: z.number().nonnegative().max(0.9).default(0.1),
        alpha: z.number().positive().max(0.25).default(0.05),
      })
      .nullable()
      .prefault({}),
    /** Evidence of harm, as an e-value, from which on the ramp waits: 3 is weak, 20 shows it at 0.05. */
    caution: z.number().min(1).default(3),
    /** What evidence of harm the ramp waits for. `reward`: of gates from before the truth of an audit was asked, too. */
    cautions: z.enum(['reward', 'reward-and-truth']).default('reward-and-truth'),
    /**
     * What shows the gain of a candidate that passed held-out tasks, where a judge alone audits: behaviour, as without an
     * audit. `judge`: its word did, in gates from before.
     */
    besideJudge: z.enum(['reward', 'judge']).default('reward'),
    /** Share of candidate sessions in which a guard must have been measured before a promotion. */
    minCoverage: z.number().nonnegative().max(1).default(0.9),
  })
  .refine(({ margin, tolerance }) => tolerance >= -margin, {
    path: ['tolerance'],
    error: 'what the margin lets pass must be tolerated: with a negative margin the tolerance is at least as large',
  })
  .refine(({ missing, missingTolerance }) => missing === 'worst' || missingTolerance <= MOST_MISSING_UNDER_NEUTRAL, {
    path: ['missingTolerance'],
    error: `with missing "neutral" it must be at most ${MOST_MISSING_UNDER_NEUTRAL}`,
  })
  .refine(({ audit, promote }) => audit === null || audit.by === 'judge' || promote === 'truth', {
    path: ['promote'],
    error: 'where sessions are audited, the audit decides: leave promote out',
  })
export type CanaryConfig = z.infer<typeof CanaryConfig>

/**
 * What gates did whose configuration says nothing of it, as it was made before there was a choice: the candidate's missing
 * rewards alone counted, whether behaviour pays more than the truth was not asked, and nobody looked at tails.
 */
export const EARLIER_RULES = { excess: 'candidate', goodhart: null, tails: false } as const

/**
 * The same of receipts: they rest on behaviour where they do not say so, their ramp did not ask what truth says of harm, and
 * a judge alone decided on what passed held-out tasks.
 */
export const EARLIER_RECEIPT_RULES = {
  ...EARLIER_RULES,
  promote: 'behaviour-only',
  cautions: 'reward',
  besideJudge: 'judge',
} as const

/** The part of an agent's alpha that a canary's candidate has: in the place of the configuration's own. */
export const CanaryLevel = CandidateLevel.pick({ candidate: true, promotions: true, alpha: true })
export type CanaryLevel = z.infer<typeof CanaryLevel>

/** What a promotion rests on; `null`: nothing that it may rest on is there. */
export type Basis = 'audited' | 'held-out' | 'behaviour-only' | null

/** @param admitted whether the candidate passed held-out tasks before anybody got it. */
export function basisOf({ audit, promote }: Pick<CanaryConfig, 'audit' | 'promote'>, admitted: boolean): Basis {
  if (audit !== null && audit.by !== 'judge') return 'audited'
  // A judge's word decides where its owner says so, whatever the candidate passed before.
  const byJudge = audit !== null && promote === 'behaviour-only'
  if (admitted && !byJudge) return 'held-out'
  return promote === 'behaviour-only' ? promote : null
}

/** @throws GateError naming every entry that is wrong. */
export function parseCanaryConfig(config: unknown): CanaryConfig {
  const parsed = CanaryConfig.safeParse(config)
  if (parsed.success) return parsed.data
  throw new GateError({
    code: 'gate/config',
    message: `The canary's configuration is wrong: ${z.prettifyError(parsed.error).replaceAll('\n', ' ')}`,
    hint: `A canary gate takes ${Object.keys(CanaryConfig.shape).join(', ')}.`,
    cause: parsed.error,
  })
}
