import type { ParameterName } from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import type { EvidenceReport } from './evidence-report.ts'
import type { Flood, Gathered } from './gather.ts'
import type { TrafficBatch } from './used.ts'

/**
 * One batch of what was gathered for each Parameter that learns: each has its own fresh sessions, as its own Versions have to
 * be those that serve. What was left out is told of each; what is told of the whole is the weights', or the first one's.
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
        others.map(([parameter, { report }]) => {
          const { sessions, credited, dropped } = report
          return [parameter, { sessions, credited, dropped }]
        }),
      ),
    },
    flood: { ...first.flood, excess: { ...first.flood.excess, practised: [...practised.values()] } },
  }
}
