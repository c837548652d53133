import { z } from 'zod'
import { groupBy, parseInput, rng } from '../../../core/index.ts'
import { ChoiceError } from '../errors.ts'
import {
  type BehaviourEncoder,
  type BehaviourWindow,
  embedBehaviour,
  meanOf,
  ofLengthOne,
  requireSteps,
  standardised,
} from './encoder.ts'
import { shareToldApart, toldApart, type VectorPairs } from './told-apart.ts'
import { type Pairs, pairsOf, spreadOf, trainEncoder } from './train-encoder.ts'

/** A window of somebody's behaviour. */
export interface BehaviourExample {
  /** Who acted: a user, another agent, an opponent. */
  readonly partner: string
  /** What they did, seen from where the own agent stands; one step at least. */
  readonly window: BehaviourWindow
}

const FitOptions = z.strictObject({
  /** Names what made the numbers of a step; kept with the encoder. */
  features: z.string().min(1),
  /** Numbers of a vector, 2 to 64. Default 8. */
  dimensions: z.int().min(2).max(64).default(8),
  /** Units of a hidden layer of tanh over each step, up to 64. 0: a step counts by itself, number by number. Default 16. */
  hidden: z.int().min(0).max(64).default(16),
  /** τ of InfoNCE, > 0: the less, the more those count that are hard to tell apart. Default 0.5. */
  temperature: z.number().positive().default(0.5),
  /** Partners that are told from each other at once, at most. Default 32. */
  batch: z.int().min(2).default(32),
  /** In each, every partner that is trained on gives two windows. Most there are; default 200. */
  epochs: z.int().positive().default(200),
  /** Epochs without a gain on partners that are not trained on, until training ends. Default 30. */
  patience: z.int().positive().default(30),
  /** Of Adam. Default 0.01. */
  learningRate: z.number().positive().default(0.01),
  /** The chance that an encoder is taken where windows tell nothing of who acted. Default 0.05. */
  alpha: z.number().positive().lt(0.5).default(0.05),
  /** Partners with two windows, at least; 20 or more. Default 20. */
  leastPartners: z.int().min(20).default(20),
  seed: z.int().default(0),
})

/** How an encoder is trained and tested. */
export type BehaviourOptions = z.input<typeof FitOptions>

/** How well partners were told apart that were not trained on. */
export interface BehaviourEvidence {
  /** Those with two windows or more. */
  readonly partners: number
  /** Windows of these, and windows of partners with one, which say nothing and are left out. */
  readonly windows: number
  readonly leftOut: number
  /**
   * How often a partner's other window is more like the first than another partner's is: 0.5 by chance, 1 always. `p`: how likely
   * so much is where windows tell nothing of who acted.
   */
  readonly toldApart: number
  readonly p: number
  /** The same by the mean of the steps, standardised, with nothing learned. */
  readonly rawToldApart: number
}

/** An encoder, or why there is none. */
export type FittedBehaviour =
  | { readonly status: 'fitted'; readonly encoder: BehaviourEncoder; readonly evidence: BehaviourEvidence }
  | { readonly status: 'refused'; readonly reason: string; readonly evidence: BehaviourEvidence | null }

const heldOutFolds = 4

/**
 * An encoder of how others act, by contrastive learning, after CLAM (Ma et al., "Contrastive learning-based agent modeling for deep
 * reinforcement learning", 2024): two windows of one partner are to be alike, windows of others are not (symmetric InfoNCE). It
 * reads nothing but what the own agent saw, and no rewards: windows of episodes that earned nothing
 * that is known teach it, too. Its vectors are features of a `choice`, so that its policy is conditioned on who is met; new
 * partners need no training.
 *
 * It is refused unless it tells apart partners that were held out better than chance. That says that it knows *something*
 * of them, not that it is what a choice depends on: measure against a choice without it. Windows of one partner that share more
 * than the partner (the day, the task) are told apart by that. Equal windows and seeds give an equal encoder, in whatever
 * order they come.
 * @throws InputError for options that it does not know; ChoiceError (`choice/bad-window`) for a window without steps, and for
 * steps that differ in number or are not finite.
 */
export function fitBehaviourEmbedding(
  examples: readonly BehaviourExample[],
  options: BehaviourOptions,
): FittedBehaviour {
  const { alpha, leastPartners, seed, ...training } = parseInput(FitOptions, options, 'The options of an embedding')
  checkWindows(examples)
  const all = byPartner(examples)
  const partners = rng('behaviour-folds', seed).shuffle(all.filter((windows) => windows.length >= 2))
  if (partners.length < leastPartners) {
    const reason = `there is too little to learn from: ${partners.length} partners with two windows, at least ${leastPartners}`
    return { status: 'refused', reason, evidence: null }
  }
  const parts: VectorPairs[] = []
  const rawParts: VectorPairs[] = []
  for (let fold = 0; fold < heldOutFolds; fold++) {
    const rest = partners.filter((_, i) => i % heldOutFolds !== fold)
    const encoder = trainEncoder(rest, training, rng('behaviour', seed, fold))
    const held = pairsOf(
      partners.filter((_, i) => i % heldOutFolds === fold),
      rng('behaviour-pairs', seed, fold),
    )
    parts.push(vectorsOf(held, (window) => embedBehaviour(encoder, window)))
    rawParts.push(vectorsOf(held, rawOf(rest)))
  }
  const { share, p } = toldApart(parts, rng('behaviour-chance', seed))
  const windows = partners.reduce((sum, { length }) => sum + length, 0)
  const evidence: BehaviourEvidence = {
    partners: partners.length,
    windows,
    leftOut: examples.length - windows,
    toldApart: share,
    p,
    rawToldApart: shareToldApart(rawParts),
  }
  if (p <= alpha && share > 0.5)
    return { status: 'fitted', encoder: trainEncoder(partners, training, rng('behaviour', seed)), evidence }
  const reason = `it does not tell apart held-out partners: a partner's other window is the more alike in ${(100 * share).toFixed(1)} % of comparisons, and chance comes to as much with p = ${p.toFixed(3)}`
  return { status: 'refused', reason, evidence }
}

/** The windows of each partner. The order in which they were given does not count. */
function byPartner(examples: readonly BehaviourExample[]): readonly (readonly BehaviourWindow[])[] {
  const keyed = examples.map(({ partner, window }) => ({ partner, window, key: JSON.stringify([partner, window]) }))
  const sorted = keyed.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  return [...groupBy(sorted, ({ partner }) => partner).values()].map((group) => group.map(({ window }) => window))
}

const vectorsOf = (
  { first, second }: Pairs<BehaviourWindow>,
  vector: (window: BehaviourWindow) => readonly number[],
): VectorPairs => ({ first: first.map(vector), second: second.map(vector) })

/** What likeness there is without anything learned: the mean of the steps, in standard deviations of these partners' steps. */
function rawOf(partners: readonly (readonly BehaviourWindow[])[]): (window: BehaviourWindow) => readonly number[] {
  const spread = spreadOf(partners.flat(2))
  return (window) => ofLengthOne(standardised(meanOf(window), spread))
}

function checkWindows(examples: readonly BehaviourExample[]): void {
  const inputs = examples[0]?.window[0]?.length ?? 0
  for (const [i, { partner, window }] of examples.entries()) {
    requireSteps(window, inputs, `Window ${i}, of "${partner}",`)
    if (window.length > 0 && inputs > 0) continue
    throw new ChoiceError({
      code: 'choice/bad-window',
      message: `Window ${i}, of "${partner}", has nothing in it.`,
      hint: 'Leave out windows in which nothing was seen; give each step one number at least.',
    })
  }
}
