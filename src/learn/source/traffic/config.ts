import { z } from 'zod'
import { type CreditEstimator, Duration } from '../../../core/index.ts'
import { batchBaseline, valueBaseline } from '../../../credit/index.ts'
import { DriftConfig } from '../../../release/index.ts'
import { allImplicitKinds, type ImplicitOptions, ReporterLimits, TrafficRubricConfig } from '../../../reward/index.ts'
import { policyKeys, PolicyLossName } from '../policy-keys.ts'
import { TrafficAuditConfig } from './audit-config.ts'
import { TrafficCanaryConfig } from './canary-config.ts'
import { LearningMode } from './learning-mode.ts'
import { TrafficSchedule } from './schedule.ts'
import { ImitationSteps, PreferenceSteps } from './steps.ts'
import { strangersDecide } from './who-decides.ts'

const Declared = z.strictObject({
  /** How far it goes by itself: `shadow`, `canary` or `automatic`. */
  mode: LearningMode.default('shadow'),
  /**
   * What trains: the first upstream, which answers the agent, too, and is the embedded engine or a Tinker server; or nothing.
   * With `none` no weights learn; signals, drift, canaries and their gate work before any upstream, and a memory learns.
   */
  trainer: z.enum(['upstream', 'none']).default('upstream'),
  /** From the beginning of one run to that of the next, at least; and the fresh episodes that a run needs. */
  every: Duration.prefault('30m'),
  minEpisodes: z.int().positive().default(200),
  /** The same for a run that drift opens. Default: a quarter of it. */
  minEpisodesOnDrift: z.int().positive().exactOptional(),
  /** How often canaries and drift are looked at. */
  watchEvery: Duration.prefault('5s'),
  /** How long a learner that died keeps others waiting. */
  lease: Duration.prefault('30s'),
  /** How far back is looked, and for how long an episode must have been quiet. */
  window: Duration.prefault('24h'),
  settle: Duration.prefault('30m'),
  /** Releases that the weights which sampled may be older than those that serve. */
  maxLag: z.int().nonnegative().max(16).default(0),
  /** Fresh episodes of one run, at most, and as many that other weights sampled. */
  limit: z.int().positive().max(100_000).default(2_000),
  /** What a session earns. */
  rubric: TrafficRubricConfig.prefault({}),
  /** Whether learning multiplies the rubric's worths by what labels of audits make of them; canaries and drift never do. */
  calibrate: z.boolean().default(true),
  /** How much one reporter may decide. */
  reporters: ReporterLimits.prefault({}),
  /** What a session is compared with: `value` foretells it from the task, `batch` is the mean of all. */
  credit: z
    .strictObject({
      baseline: z.enum(['value', 'batch']).default('value'),
      /** In standard deviations of the batch, or in the reward's unit. */
      scale: z.enum(['deviation', 'none']).default('deviation'),
    })
    .prefault({}),
  /** Policy gradient. */
  policy: z
    .strictObject({
      loss: PolicyLossName.default('ppo'),
      learningRate: z.number().positive().default(1e-4),
      minibatches: z.int().positive().default(4),
      clipLow: z.number().nonnegative().exactOptional(),
      clipHigh: z.number().positive().exactOptional(),
      gradClipNorm: z.number().positive().default(1),
      weightDecay: z.number().nonnegative().default(0),
      ...policyKeys,
    })
    .prefault({}),
  /** Learning from what people showed. */
  demonstrations: ImitationSteps.prefault({}),
  /** Learning from what people preferred. */
  preferences: PreferenceSteps.prefault({}),
  /** How much is learned from one batch, what is rehearsed, and how strongly weights are held on to. */
  schedule: TrafficSchedule.prefault({}),
  /** The canary's gate. Its guards are the metrics of sessions. */
  canary: TrafficCanaryConfig.prefault({}),
  /** A random sample of a canary's sessions, in both arms alike, is judged by truth, which decides; `false`: none is. */
  audit: TrafficAuditConfig.prefault(false),
  /**
   * How long after it began a session is judged, by canaries and by drift detectors. Silence speaks to them only where this
   * is longer than the turns of a session and `rubric.implicit.abandonedAfterMinutes` together.
   */
  judgeAfter: Duration.prefault('1h'),
  /** What is watched for lasting changes, which open a run; `false`: nothing. */
  drift: z.union([z.literal(false), DriftConfig]).prefault({}),
  /** How far back a learner that starts looks to learn what is usual. */
  driftHistory: Duration.prefault('7d'),
  adapter: z
    .strictObject({
      /** The adapter's product is scaled by alpha / rank; by default, by 1. */
      alpha: z.number().positive().exactOptional(),
    })
    .prefault({}),
  seed: z.int().default(0),
})

/** How an agent learns from its traffic: JSON, as `ratchet serve` and `ratchet learn --every` read it. */
export const LearnFromTrafficConfig = Declared.superRefine(
  ({ mode, reporters, audit, canary, judgeAfter }, context) => {
    const judgeAlone = audit !== false && audit.by === 'judge' && !audit.labels
    if (audit !== false && !judgeAlone && canary.promote === 'behaviour-only') {
      const message = 'where sessions are audited, the audit decides: leave promote out'
      context.addIssue({ code: 'custom', path: ['canary', 'promote'], message })
    }
    if (audit !== false && audit.by === 'judge' && audit.patience <= judgeAfter) {
      const message =
        'with a judge it must be longer than judgeAfter: its words count for so long after a session began'
      context.addIssue({ code: 'custom', path: ['audit', 'patience'], message })
    }
    const why = strangersDecide(mode, reporters)
    if (why) context.addIssue({ code: 'custom', path: ['reporters', why.key], message: `${why.message}. ${why.hint}` })
  },
)
export type LearnFromTrafficConfig = z.infer<typeof LearnFromTrafficConfig>

/** The estimator that a configuration names. */
export function creditFrom({ baseline, scale }: LearnFromTrafficConfig['credit']): CreditEstimator {
  return baseline === 'value' ? valueBaseline({ scale }) : batchBaseline({ scale })
}

/** What of people's behaviour a configuration's rubric reads: a kind that is off, or worth nothing, is not looked for. */
export function behaviourFrom({ implicit }: LearnFromTrafficConfig['rubric']): ImplicitOptions {
  if (implicit === false) return { kinds: [] }
  const { kinds: worths, abandonedAfterMinutes } = implicit
  const kinds = allImplicitKinds.filter((kind) => worths[kind] !== false && worths[kind] !== 0)
  return { kinds, abandonedAfter: abandonedAfterMinutes * 60_000 }
}
