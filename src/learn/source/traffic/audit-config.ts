import { z } from 'zod'
import { Audit, AuditSource, contentHash, Duration } from '../../../core/index.ts'

const { shape } = Audit

/** The model that judges. */
export const JudgeConfig = z.strictObject({
  /** `embedded`, or the base URL of an OpenAI-compatible API, `/v1` included. */
  url: z
    .string()
    .min(1)
    .refine(
      (url) => url !== 'tinker',
      'no place for a judge: give `embedded`, or the base URL of an OpenAI-compatible API',
    )
    .default('embedded'),
  /** Environment variable that holds its key. */
  keyEnv: z.string().min(1).exactOptional(),
  /** By the name that the URL knows it by; `embedded`: a known name or a folder. */
  model: z.string().min(1).max(256),
  /** A question about a session, answered from 0 (no) to 10 (yes). Default: whether it did what was asked. */
  criterion: z.string().min(1).max(4_000).exactOptional(),
  /** Tokens of an answer, thoughts included. */
  maxTokens: z.int().positive().default(1_024),
})
export type JudgeConfig = z.infer<typeof JudgeConfig>

const Declared = z.strictObject({
  share: shape.share,
  by: shape.by,
  /** With `outcome`: the signal that tells, within which time after a session it counts, and the keys that may send it. */
  outcome: z
    .strictObject({
      signal: shape.outcome.unwrap().unwrap().shape.signal,
      within: Duration,
      from: shape.outcome.unwrap().unwrap().shape.from,
    })
    .exactOptional(),
  /** With `judge`: the model that is asked. A program may give one instead. */
  judge: JudgeConfig.exactOptional(),
  /** With `judge`: who says what is true of which part of what it judged. Without, it promotes nothing. */
  labels: z.strictObject({ share: shape.share, by: AuditSource.exclude(['judge']) }).exactOptional(),
  reviewers: shape.reviewers,
  queue: shape.queue,
  patience: Duration.prefault('3d'),
  maxLabels: shape.maxLabels,
})

/** How canaries on traffic are audited, as a configuration declares it; `false`: they are not. */
export const TrafficAuditConfig = z.union([
  z.literal(false),
  Declared.superRefine((declared, context) => {
    const { error } = Audit.safeParse(auditFrom(declared, []))
    for (const { path, message } of error?.issues ?? []) context.addIssue({ code: 'custom', path, message })
    // Here and not where canaries are read: those that began before this was refused are still judged.
    const by = declared.labels?.by ?? declared.by
    if (by !== 'person' && declared.reviewers !== 1) {
      const message = `only people can be several: with by "${by}" leave reviewers out`
      context.addIssue({ code: 'custom', path: ['reviewers'], message })
    }
    for (const key of ['judge', 'labels'] as const) {
      if (declared.by === 'judge' || declared[key] === undefined) continue
      context.addIssue({ code: 'custom', path: [key], message: `with by "${declared.by}" leave ${key} out` })
    }
  }),
])
export type TrafficAuditConfig = z.infer<typeof TrafficAuditConfig>

/**
 * What a gate's configuration says of it: who tells the truth, and of which share; and beside them the judge, where one is
 * asked about more sessions.
 * @param trusted keys whose names are people.
 */
export function auditFrom(declared: z.infer<typeof Declared>, trusted: readonly string[]): Audit
export function auditFrom(declared: TrafficAuditConfig, trusted: readonly string[]): Audit | null
export function auditFrom(declared: TrafficAuditConfig, trusted: readonly string[]): Audit | null {
  if (declared === false) return null
  const { patience, outcome, judge, labels, share, ...rest } = declared
  const told = outcome && { signal: outcome.signal, withinMs: outcome.within, from: outcome.from }
  const by = labels?.by ?? declared.by
  const people = by === 'person' ? trusted.toSorted() : []
  // Another model, or another question, says other words: what began with one is not judged by another.
  const model = judge ? contentHash({ ...judge, keyEnv: null }).slice(0, 16) : 'a program'
  const asked = declared.by === 'judge' ? { share, model } : null
  const labelled = labels ? share * labels.share : share
  return { ...rest, by, share: labelled, judge: asked, trusted: people, patienceMs: patience, outcome: told ?? null }
}
