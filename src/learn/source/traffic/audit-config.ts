import { z } from 'zod'
import { Audit } from '../../../core/index.ts'
import { Duration } from '../../duration.ts'

const { shape } = Audit

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
    if (declared.by !== 'person' && declared.reviewers !== 1) {
      const message = `only people can be several: with by "${declared.by}" leave reviewers out`
      context.addIssue({ code: 'custom', path: ['reviewers'], message })
    }
  }),
])
export type TrafficAuditConfig = z.infer<typeof TrafficAuditConfig>

/**
 * What a gate's configuration says of it.
 * @param trusted keys whose names are people.
 */
export function auditFrom(declared: z.infer<typeof Declared>, trusted: readonly string[]): Audit
export function auditFrom(declared: TrafficAuditConfig, trusted: readonly string[]): Audit | null
export function auditFrom(declared: TrafficAuditConfig, trusted: readonly string[]): Audit | null {
  if (declared === false) return null
  const { patience, outcome, ...rest } = declared
  const told = outcome && { signal: outcome.signal, withinMs: outcome.within, from: outcome.from }
  const people = declared.by === 'person' ? trusted.toSorted() : []
  return { ...rest, trusted: people, patienceMs: patience, outcome: told ?? null }
}
