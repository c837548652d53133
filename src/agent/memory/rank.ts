import type { Found } from './found.ts'
import type { MemoryItem } from './item.ts'
import type { Selector } from './value.ts'

/** An item with how much is to be said for recalling it. */
export interface Ranked extends Found {
  readonly score: number
}

/** Episodes after which an item is judged by what came of it. */
const enough = 5

/** Whether an item is recalled no more for the harm that it does: by what was seen, or since it is barred. */
export const doesHarm = (item: Pick<MemoryItem, 'utility' | 'with' | 'without' | 'bare' | 'barred'>): boolean =>
  item.barred !== undefined || looksHarmful(item)

/**
 * Whether an item does harm, by what was seen: episodes went worse with it than without by more than chance would have it, or
 * nearly all went badly of late that recalled it, and not as badly those that recalled nothing.
 */
export function looksHarmful({
  utility,
  with: shown,
  without,
  bare,
}: Pick<MemoryItem, 'utility' | 'with' | 'without' | 'bare'>): boolean {
  const fewer = Math.min(shown.count, without.count)
  if (fewer >= enough && shown.mean - without.mean < -1 / Math.sqrt(fewer)) return true
  const isAsBadWithout = bare !== undefined && bare.count >= enough && utility >= bare.mean
  return shown.count >= enough && utility < -0.5 && !isAsBadWithout
}

/**
 * Which items to recall of those that are near enough.
 *
 * Without a selector: 0.5 · z(similarity) + 0.5 · z(utility) among them (MemRL). With one: how likely each is to help, by
 * its weights (Memento's case selection). What does harm is left out, and no one source gives more
 * than half of a recall.
 */
export function ranked(found: readonly Found[], recall: number, selector: Selector | null): readonly Ranked[] {
  const harmless = found.filter(({ item }) => !doesHarm(item))
  const scores = selector ? harmless.map((one) => helpfulness(selector, one)) : mixed(harmless)
  const inOrder = harmless
    .map((one, i) => ({ ...one, score: scores[i] ?? 0 }))
    .toSorted((a, b) => b.score - a.score || b.similarity - a.similarity || (a.item.id < b.item.id ? -1 : 1))
  return spread(inOrder, recall)
}

function mixed(found: readonly Found[]): readonly number[] {
  const near = standardised(found.map(({ similarity }) => similarity))
  const useful = standardised(found.map(({ item }) => item.utility))
  return near.map((value, i) => 0.5 * value + 0.5 * (useful[i] ?? 0))
}

/** In standard deviations from their mean; all 0 where they are equal. */
function standardised(values: readonly number[]): readonly number[] {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length)
  return values.map((value) => (deviation < 1e-9 ? 0 : (value - mean) / deviation))
}

function spread(inOrder: readonly Ranked[], recall: number): readonly Ranked[] {
  const most = Math.ceil(recall / 2)
  const taken = new Map<string, number>()
  const kept: Ranked[] = []
  for (const one of inOrder) {
    if (kept.length === recall) break
    const { source } = one.item
    const before = taken.get(source) ?? 0
    if (before === most) continue
    taken.set(source, before + 1)
    kept.push(one)
  }
  return kept
}

/** How many numbers describe an item to a selector. */
export const featureCount = 6

/** What a selector knows of an item: a constant, its similarity, its utility, what is known of it, its trust, whether it worked. */
export const features = (item: Pick<MemoryItem, 'utility' | 'with' | 'trust' | 'worked'>, similarity: number) => [
  1,
  similarity,
  Math.max(-2, Math.min(2, item.utility)),
  Math.min(1, Math.log1p(item.with.count) / 5),
  item.trust,
  item.worked ? 1 : 0,
]

/** How likely an item is to help: the logistic function of the weighted features. */
export function helpfulness({ weights }: Selector, { item, similarity }: Found): number {
  return chanceBy(weights, features(item, similarity))
}

/** σ(w · x): what a logistic regression says of a row of features. */
export const chanceBy = (weights: readonly number[], row: readonly number[]): number =>
  1 / (1 + Math.exp(-row.reduce((sum, value, i) => sum + value * (weights[i] ?? 0), 0)))
