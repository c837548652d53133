import type { Audit, AuditDraw } from '../../core/index.ts'
import { round } from '../round.ts'
import { countingLabels } from './truth.ts'

/** How one reviewer judges. */
export interface ReviewerStanding {
  readonly reviewer: string
  /** Draws that they judged; those of which they said that it cannot be told are not among them. */
  readonly labels: number
  readonly untold: number
  /** Mean of what they said; `null` for nothing. */
  readonly mean: number | null
  /** Of the labels on draws that others judged too, the share that was what the others' median was; `null` for none. */
  readonly agrees: number | null
  /** Says the same of everything, as often as hardly anybody would who looks. */
  readonly alike: boolean
}

/** How reviewers agree. */
export interface Agreement {
  /** Draws that several judged. */
  readonly shared: number
  /**
   * Krippendorff's alpha for interval data over all reviewers: 1 for full agreement, 0 for what chance gives; `null` where
   * nothing was judged twice, or nothing differs.
   */
  readonly alpha: number | null
  /** Cohen's kappa of each two who judged the same draws, with labels rounded to right and wrong. */
  readonly pairs: readonly {
    readonly a: string
    readonly b: string
    readonly draws: number
    readonly kappa: number | null
  }[]
  /** Those who judged most first. */
  readonly reviewers: readonly ReviewerStanding[]
}

/** One label that tells. */
interface Told {
  readonly draw: string
  readonly reviewer: string
  readonly truth: number
}

/** How reviewers of draws agree; labels that were taken back do not count. */
export function agreementOf(draws: readonly AuditDraw[], audit: Pick<Audit, 'by'>): Agreement {
  const labels = draws.flatMap((draw) => countingLabels(draw.labels, audit))
  const told = labels.flatMap(({ draw, reviewer, truth }) => (truth === null ? [] : [{ draw, reviewer, truth }]))
  const byDraw = groupBy(told, ({ draw }) => draw)
  const shared = [...byDraw.values()].filter(({ length }) => length > 1)
  const reviewers = [...new Set(labels.map(({ reviewer }) => reviewer))].toSorted()
  const standings = reviewers.map((reviewer) => ({
    ...standing(reviewer, told, byDraw),
    untold: labels.filter((label) => label.reviewer === reviewer && label.truth === null).length,
  }))
  return {
    shared: shared.length,
    alpha: krippendorff(shared.map((group) => group.map(({ truth }) => truth))),
    pairs: reviewers.flatMap((a, i) => reviewers.slice(i + 1).flatMap((b) => pairOf(a, b, shared))),
    reviewers: standings.toSorted((a, b) => b.labels - a.labels),
  }
}

/**
 * Krippendorff's alpha with the squared difference: 1 − observed over expected disagreement, of units that have several
 * values each (Krippendorff 2011, "Computing Krippendorff's alpha-reliability").
 */
export function krippendorff(units: readonly (readonly number[])[]): number | null {
  const values = units.filter(({ length }) => length > 1)
  const all = values.flat()
  if (all.length === 0) return null
  let observed = 0
  for (const unit of values) observed += pairsOf(unit) / (unit.length - 1)
  const expected = pairsOf(all) / (all.length - 1)
  return expected === 0 ? null : round(1 - observed / expected)
}

/** Sum of squared differences over ordered pairs. */
function pairsOf(values: readonly number[]): number {
  const sum = values.reduce((total, value) => total + value, 0)
  const squares = values.reduce((total, value) => total + value ** 2, 0)
  return 2 * (values.length * squares - sum ** 2)
}

/** Cohen's kappa of two raters; `null` where both always say one and the same. */
export function cohen(pairs: readonly (readonly [number, number])[]): number | null {
  const rate = (of: (pair: readonly [number, number]) => boolean) => pairs.filter(of).length / pairs.length
  const categories = [...new Set(pairs.flat())]
  const agreed = rate(([a, b]) => a === b)
  let byChance = 0
  for (const category of categories) byChance += rate(([a]) => a === category) * rate(([, b]) => b === category)
  return pairs.length === 0 || byChance === 1 ? null : round((agreed - byChance) / (1 - byChance))
}

function pairOf(a: string, b: string, shared: readonly (readonly Told[])[]): Agreement['pairs'] {
  const both = shared.flatMap((group) => {
    const [one, other] = [a, b].map((name) => group.find(({ reviewer }) => reviewer === name))
    return one && other ? [[Math.round(one.truth), Math.round(other.truth)] as const] : []
  })
  return both.length === 0 ? [] : [{ a, b, draws: both.length, kappa: cohen(both) }]
}

function standing(
  reviewer: string,
  told: readonly Told[],
  byDraw: ReadonlyMap<string, readonly Told[]>,
): Omit<ReviewerStanding, 'untold'> {
  const own = told.filter((label) => label.reviewer === reviewer)
  const others = told.filter((label) => label.reviewer !== reviewer)
  const beside = own.flatMap(({ draw, truth }) => {
    const rest = (byDraw.get(draw) ?? []).filter((label) => label.reviewer !== reviewer).map((label) => label.truth)
    return rest.length === 0 ? [] : [Math.round(truth) === Math.round(medianOf(rest))]
  })
  return {
    reviewer,
    labels: own.length,
    mean: own.length === 0 ? null : round(own.reduce((sum, { truth }) => sum + truth, 0) / own.length),
    agrees: beside.length === 0 ? null : round(beside.filter(Boolean).length / beside.length),
    alike: saysTheSame(own, others),
  }
}

/** Fewer labels of one kind in a row tell nothing. */
const fewestAlike = 20
/** How seldom whoever looks would say the same that often. */
const byChance = 0.01

/** Alone, a reviewer is told of after so many alike; beside others, where what they say makes such a row unlikely. */
function saysTheSame(own: readonly Told[], others: readonly Told[]): boolean {
  const [first] = own
  if (!first || own.length < fewestAlike || own.some(({ truth }) => truth !== first.truth)) return false
  if (others.length < fewestAlike) return true
  const rate = (others.filter(({ truth }) => truth === first.truth).length + 1) / (others.length + 2)
  return rate ** own.length < byChance
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length / 2
  return ((sorted[Math.ceil(half) - 1] ?? 0) + (sorted[Math.floor(half)] ?? 0)) / 2
}

function groupBy<T>(items: readonly T[], key: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const group = groups.get(key(item))
    if (group) group.push(item)
    else groups.set(key(item), [item])
  }
  return groups
}
