import { z } from 'zod'
import { rng } from '../../core/index.ts'
import { type AuditObservation, truthAbove } from './truth-test.ts'

/** What an audit is to find out. */
export const AuditQuestion = z
  .strictObject({
    /** How much more often the candidate is right, as a share of the sessions. */
    effect: z.number().positive().max(1),
    /** How often what serves is right. */
    base: z.number().min(0).max(1).default(0.5),
    /** Share of the sessions that is drawn. */
    share: z.number().positive().max(1).default(0.25),
    /** How well behaviour foretells the truth, as a correlation; 0: not at all. `ratchet audit agreement` tells it. */
    correlation: z.number().min(0).max(0.99).default(0),
    /** The same of a judge's words, beside behaviour; `null`: there is no judge. */
    judge: z.number().min(0).max(0.99).nullable().default(null),
    /** Share of the sessions that a judge is asked about, at least `share`. */
    judged: z.number().positive().max(1).default(1),
    /** Share of the sessions that gets the candidate. */
    candidate: z.number().positive().max(0.99).default(0.5),
    /** At which the gain is to be shown. */
    alpha: z.number().positive().max(0.25).default(0.05),
    /** How often it is to be shown, at least. */
    power: z.number().positive().max(0.99).default(0.8),
    seed: z.int().default(0),
  })
  .refine(({ share, judge, judged }) => judge === null || judged >= share, {
    path: ['judged'],
    error: 'a judge is asked about all that are labelled: judged is at least share',
  })
export type AuditQuestion = z.infer<typeof AuditQuestion>

/** What it takes. Labels are of both arms together. */
export interface AuditPlan {
  /** Half of all candidates of that effect are shown after so many labels; `null`: more than were tried. */
  readonly median: number | null
  /** `power` of them. */
  readonly labels: number | null
  /** Sessions of the canary until then. */
  readonly sessions: number | null
  /** Labels after which nothing more was tried. */
  readonly tried: number
}

/** Simulated canaries of one plan: the share that shows the gain is known to about four in a hundred. */
const LIVES = 160
const MOST_LABELS = 8_000
/** Sessions that one canary may take to be simulated. */
const MOST_SESSIONS = 150_000

/**
 * How many labels a decision needs: the gate's own test on simulated sessions, right or wrong, of which behaviour tells as
 * much as it is said to. A pure function of the question and of how much is tried.
 */
export function planAudit(
  asked: z.input<typeof AuditQuestion>,
  { lives = LIVES, mostSessions = MOST_SESSIONS } = {},
): AuditPlan {
  const question = AuditQuestion.parse(asked)
  const { share, power, alpha } = question
  const tried = Math.min(MOST_LABELS, Math.floor(mostSessions * share))
  const needed = Array.from(
    { length: lives },
    (_, life) => truthAbove(audited(question, life, tried), 0, -Math.log(alpha)).shownAfter ?? Number.POSITIVE_INFINITY,
  ).toSorted((a, b) => a - b)
  const at = (part: number) => {
    const labels = needed[Math.ceil(part * lives) - 1] ?? Number.POSITIVE_INFINITY
    return Number.isFinite(labels) ? labels : null
  }
  const labels = at(power)
  return { median: at(0.5), labels, sessions: labels && Math.round(labels / share), tried }
}

/** Sessions of a canary, until so many were drawn. */
export function* audited(
  { effect, base, share, correlation, judge, judged, candidate: propensity, seed }: AuditQuestion,
  life: number,
  mostLabels: number,
): Generator<AuditObservation> {
  const stream = rng('audit-plan', seed, life)
  for (let labels = 0; labels < mostLabels; ) {
    const candidate = stream.next() < propensity
    const right = Math.min(base + (candidate ? effect : 0), 1)
    const truth = Number(stream.next() < right)
    // What says the truth with this probability, and else anything, correlates with it by as much.
    const behaviour = stream.next() < correlation ? truth : Number(stream.next() < right)
    const place = stream.next()
    const drawn = place < share
    if (drawn) labels++
    const seen = {
      candidate,
      propensity,
      probability: share,
      drawn,
      truth,
      features: correlation > 0 ? [behaviour] : [],
    }
    if (judge === null) {
      yield seen
      continue
    }
    const word = stream.next() < judge ? truth : Number(stream.next() < right)
    yield { ...seen, judge: { probability: judged, word: place < judged ? [word, 0] : null } }
  }
}
