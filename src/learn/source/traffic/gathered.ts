import type { ParameterName } from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import type { EvidenceReport } from './evidence-report.ts'
import type { Flood, gather } from './gather.ts'
import type { TrafficBatch } from './used.ts'

/** What was gathered for one Parameter. */
export type Gathered = Awaited<ReturnType<typeof gather>>

/**
 * One batch of what was gathered for each Parameter that learns: each has its own fresh sessions, as its own Versions have to
 * be those that serve. What is told of what was left out is the weights', or the first one's.
 * @param weights `null` for a run that trains none.
 */
export function together(
  weights: Gathered | null,
  others: readonly (readonly [ParameterName, Gathered])[],
): { readonly batch: TrafficBatch; readonly report: EvidenceReport; readonly flood: Flood } {
  const first = present(weights ?? others[0]?.[1], 'what was gathered')
  if (others.length === 0) return first
  const all = [...(weights ? [weights] : []), ...others.map(([, gathered]) => gathered)]
  const practised = new Map(all.flatMap(({ flood }) => flood.excess.practised).map((one) => [one.reporter, one]))
  return {
    batch: { ...first.batch, credits: all.flatMap(({ batch }) => batch.credits) },
    report: {
      ...first.report,
      sessions: Math.max(...all.map(({ report }) => report.sessions)),
      credited: all.reduce((sum, { report }) => sum + report.credited, 0),
      learners: Object.fromEntries(
        others.map(
          ([
            parameter,
            {
              report: { sessions, credited },
            },
          ]) => [parameter, { sessions, credited }],
        ),
      ),
    },
    flood: { ...first.flood, excess: { ...first.flood.excess, practised: [...practised.values()] } },
  }
}
