import type { ParameterName } from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import type { Flood, Gathered } from './gather.ts'
import type { TrafficBatch } from './used.ts'

/** What was gathered, for whom. */
type For = readonly (readonly [ParameterName, Gathered])[]

/**
 * One batch of what was gathered for each Parameter that learns: each has its own fresh sessions, as its own Versions have to
 * be those that serve. What was left out is told of each; what is told of the whole is the first one's.
 */
export function together(weights: For, others: For): Gathered {
  const each = [...weights, ...others]
  const all = each.map(([, gathered]) => gathered)
  const first = present(all[0], 'what was gathered')
  if (others.length === 0 && weights.length === 1) return first
  const sum = (part: 'credited' | 'demonstrations' | 'pairs' | 'unknownTools') =>
    all.reduce((total, { report }) => total + report[part], 0)
  return {
    batch: { ...first.batch, credits: all.flatMap(({ batch }) => batch.credits), ...toEach(weights) },
    report: {
      ...first.report,
      sessions: Math.max(...all.map(({ report }) => report.sessions)),
      credited: sum('credited'),
      demonstrations: sum('demonstrations'),
      pairs: sum('pairs'),
      unknownTools: sum('unknownTools'),
      learners: Object.fromEntries(
        (weights.length > 1 ? each : others).map(([parameter, { report }]) => {
          const { sessions, credited, dropped } = report
          return [parameter, { sessions, credited, dropped }]
        }),
      ),
    },
    flood: {
      ...first.flood,
      excess: {
        practised: lostIn(all, 'practised'),
        demonstrations: lostIn(all, 'demonstrations'),
        pairs: lostIn(all, 'pairs'),
      },
    },
    fresh: once(all.flatMap(({ fresh }) => fresh)),
  }
}

/** Where the weights of several learn, each has samples of its own temperature, and is shown what is for it. */
function toEach(weights: For): Partial<TrafficBatch> {
  if (weights.length < 2) return {}
  const parts = weights.map(
    ([
      parameter,
      {
        batch: { temperature, shown },
      },
    ]) => [parameter, { temperature, shown }],
  )
  return { temperature: null, shown: [], weights: Object.fromEntries(parts) }
}

/** Sessions, each once. */
const once = (sessions: Gathered['fresh']): Gathered['fresh'] => [
  ...new Map(sessions.map((one) => [one.trajectory.id, one])).values(),
]

/** What reporters had more than their share of, each told once. */
function lostIn(all: readonly Gathered[], part: keyof Flood['excess']): Flood['excess']['practised'] {
  return [...new Map(all.flatMap(({ flood }) => flood.excess[part]).map((one) => [one.reporter, one])).values()]
}
