import { adam, type Rng } from '../../../core/index.ts'
import { type BehaviourEncoder, type BehaviourWindow, meanOf, type Spread, stepsOf } from './encoder.ts'
import { addSlope, encoded, innerOf, type Shape, type Steps } from './encoding.ts'
import { infoNce } from './info-nce.ts'

/** How an encoder is trained. */
export interface EncoderTraining {
  readonly features: string
  readonly dimensions: number
  readonly hidden: number
  readonly temperature: number
  readonly batch: number
  readonly epochs: number
  readonly patience: number
  readonly learningRate: number
}

/** Two windows of each of several partners, in the same order. */
export interface Pairs<W> {
  readonly first: readonly W[]
  readonly second: readonly W[]
}

/** The share of partners by whom it is known when to stop. */
const stoppedBy = 0.2

/**
 * Trains an encoder to know which two windows are of one partner. In an epoch each partner gives two of its windows, drawn anew;
 * a batch of partners is one InfoNCE. A fifth of the partners is not trained on: the encoder is the one that was best on
 * them, and training ends when it has not been better for `patience` epochs.
 * @param partners windows of each, two at least; four partners at least.
 */
export function trainEncoder(
  partners: readonly (readonly BehaviourWindow[])[],
  training: EncoderTraining,
  rng: Rng,
): BehaviourEncoder {
  const spread = spreadOf(partners.flat(2))
  const shape: Shape = { inputs: spread.middle.length, hidden: training.hidden, dimensions: training.dimensions }
  const packed = rng.shuffle(partners.map((windows) => windows.map((window) => stepsOf(window, spread))))
  const held = Math.max(2, Math.round(packed.length * stoppedBy))
  const stopping = pairsOf(packed.slice(0, held), rng)
  const trained = packed.slice(held)

  const at = begun(shape, rng)
  const descend = adam(at.length, training.learningRate)
  let best = { loss: Number.POSITIVE_INFINITY, at: at.slice(), epoch: 0 }
  for (let epoch = 0; epoch < training.epochs && epoch - best.epoch <= training.patience; epoch++) {
    for (const batch of batchesOf(rng.shuffle(trained), training.batch))
      descend(at, pairSlope(at, shape, pairsOf(batch, rng), training.temperature).gradient)
    const { loss } = pairSlope(at, shape, stopping, training.temperature)
    if (loss < best.loss) best = { loss, at: at.slice(), epoch }
  }
  return {
    kind: 'behaviour-embedding',
    version: 1,
    features: training.features,
    ...spread,
    ...rows(best.at, shape),
  }
}

/** The loss of an encoder on pairs, and its slope in every parameter. */
export function pairSlope(
  at: Float64Array,
  shape: Shape,
  { first, second }: Pairs<Steps>,
  temperature: number,
): { readonly loss: number; readonly gradient: Float64Array } {
  const sides = [first, second].map((windows) => windows.map((steps) => encoded(at, shape, steps)))
  const [a, b] = sides.map((side) => Float64Array.from(side.flatMap(({ unit }) => [...unit])))
  const contrast = infoNce(a ?? new Float64Array(), b ?? new Float64Array(), shape.dimensions, temperature)
  const gradient = new Float64Array(at.length)
  for (const [s, side] of sides.entries()) {
    const slope = s === 0 ? contrast.first : contrast.second
    for (const [i, one] of side.entries()) addSlope(gradient, at, shape, one, slope, i * shape.dimensions)
  }
  return { loss: contrast.loss, gradient }
}

/** Two windows of each partner, drawn. */
export function pairsOf<W>(partners: readonly (readonly W[])[], rng: Rng): Pairs<W> {
  const drawn = partners.map((windows) => rng.shuffle(windows))
  return { first: drawn.flatMap((w) => w.slice(0, 1)), second: drawn.flatMap((w) => w.slice(1, 2)) }
}

/** Parts of about equal size, none above `most` or below two. */
function batchesOf<T>(items: readonly T[], most: number): readonly (readonly T[])[] {
  const count = Math.max(1, Math.min(Math.ceil(items.length / most), Math.floor(items.length / 2)))
  const edge = (i: number) => Math.round((i * items.length) / count)
  return Array.from({ length: count }, (_, i) => items.slice(edge(i), edge(i + 1)))
}

/** Means and standard deviations over steps; of what never changes, which tells nothing, 1. */
export function spreadOf(steps: BehaviourWindow): Spread {
  const middle = [...meanOf(steps)]
  const variances = meanOf(steps.map((step) => step.map((value, j) => (value - (middle[j] ?? 0)) ** 2)))
  return { middle, scale: variances.map((variance) => Math.sqrt(variance) || 1) }
}

/**
 * Small weights, as many inputs make larger sums (Glorot and Bengio, 2010). Biases of hidden units are drawn, too: tanh without a
 * bias is odd, and its mean says nothing of numbers that matter by their product alone.
 */
function begun(shape: Shape, rng: Rng): Float64Array {
  const { inputs, hidden, dimensions } = shape
  const drawn = (ins: number, outs: number) => {
    const most = Math.sqrt(6 / (ins + outs))
    return Array.from({ length: outs * (ins + 1) }, () => most * (2 * rng.next() - 1))
  }
  const inner = innerOf(shape)
  const layer = drawn(inputs, hidden)
  return Float64Array.from([...layer, ...drawn(inner, dimensions).map((w, i) => (i % (inner + 1) === inner ? 0 : w))])
}

function rows(at: Float64Array, shape: Shape): Pick<BehaviourEncoder, 'hidden' | 'weights'> {
  const { inputs, hidden, dimensions } = shape
  const cut = (from: number, count: number, width: number) =>
    Array.from({ length: count }, (_, i) => Array.from(at.subarray(from + i * width, from + (i + 1) * width)))
  const inner = innerOf(shape)
  return {
    hidden: hidden === 0 ? null : cut(0, hidden, inputs + 1),
    weights: cut(hidden * (inputs + 1), dimensions, inner + 1),
  }
}
