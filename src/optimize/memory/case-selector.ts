import { z } from 'zod'
import { chanceBy, featureCount, features, type Selector } from '../../agent/index.ts'
import { fitLogistic, parseInput, sha256 } from '../../core/index.ts'
import { type Example, logLoss } from './log-loss.ts'
import type { MemoryPart, PartContext } from './part.ts'

/** How a selector learns. */
export interface CaseSelectorOptions {
  /** Recalls that it learns from, the newest. Default 2,000. */
  readonly window?: number
  /** Recalls of which it says nothing. Default 60. */
  readonly least?: number
}

const Seen = z.array(
  z.strictObject({
    features: z.array(z.number()).length(featureCount),
    label: z.union([z.literal(0), z.literal(1)]),
    heldOut: z.boolean(),
  }),
)

/**
 * Memento's parametric case selection (Zhou et al. 2025, single-step form): how likely an item is to help what is asked, by
 * logistic regression of whether episodes that recalled it worked. It chooses only while it foretells held-out episodes
 * better than their base rate does; else items are ranked by similarity and utility. One that chooses stays until there are
 * enough recalls to fit and test another.
 */
export const caseSelector = ({ window = 2_000, least = 60 }: CaseSelectorOptions = {}): MemoryPart => ({
  name: 'selector',
  open(saved) {
    let seen = saved === null ? [] : parseInput(Seen, saved, 'the state of a case selector')
    return {
      save: () => seen,
      async step(context) {
        seen = [...seen, ...recallsIn(context)].slice(-window)
        const { collection } = context
        const { selector, gain } = learned(seen, least) ?? { selector: collection.selector, gain: 0 }
        collection.selector = selector
        return { selectorGain: gain, selects: selector === null ? 0 : 1 }
      },
    }
  },
})

function* recallsIn({ outcomes, before }: PartContext): Generator<z.infer<typeof Seen>[number]> {
  for (const { experience, signal } of outcomes) {
    // By what was asked, so that no attempt at a task foretells another.
    const heldOut = Number.parseInt(sha256(experience.source).slice(0, 2), 16) % 4 === 0
    for (const { id, similarity, shown } of experience.recalled) {
      const item = before.get(id)
      if (item && shown) yield { features: features(item, similarity), label: signal > 0 ? 1 : 0, heldOut }
    }
  }
}

/**
 * @returns a selector, where it foretells what it was not fitted to, and by how many nats an episode; `null` where there is too
 *   little to tell.
 */
function learned(seen: z.infer<typeof Seen>, least: number): { selector: Selector | null; gain: number } | null {
  const fitted = seen.filter(({ heldOut }) => !heldOut)
  const tested = seen.filter(({ heldOut }) => heldOut)
  if (seen.length < least || !hasBoth(fitted) || tested.length === 0) return null
  const weights = selectorOf(fitted)
  const base = fitted.filter(({ label }) => label === 1).length / fitted.length
  const gain = logLoss(tested, () => base) - logLoss(tested, (given) => chanceBy(weights, given))
  return { selector: gain > 0 ? { weights: [...weights] } : null, gain }
}

/** Shrinks the weights as scikit-learn does by default: where few recalls tell items apart, they stay small. */
const l2 = 1

/** The first feature is a constant: its weight is the intercept, which is not shrunk. */
function selectorOf(examples: readonly Example[]): readonly number[] {
  const rows = examples.map((example) => example.features.slice(1))
  const targets = examples.map(({ label }) => label)
  const { intercept, weights } = fitLogistic({ rows, targets, counts: rows.map(() => 1) }, l2)
  return [intercept, ...weights]
}

const hasBoth = (examples: readonly Example[]) => new Set(examples.map(({ label }) => label)).size === 2
