import {
  type AdapterRef,
  contextUnder,
  type Datum,
  type ModelService,
  type ParameterName,
  rng,
  type SampledSequence,
  type Trainer,
} from '../../core/index.ts'
import { LearnError } from '../errors.ts'
import type { LearnEvent } from '../events.ts'
import type { RunOptions } from '../options.ts'
import type { TrainedWeights } from './trained-weights.ts'

/** How far the log-probability of a fresh token may be between what serves and what trains. */
export const defaultAgreement = 1e-3

/** What is sampled from: long enough that places in the text count. */
export const asked = [
  {
    role: 'user',
    content:
      'Before we begin, please tell me in your own words what you would do first with a list of twelve orders, of which some are paid, some are late, and two were cancelled by the customers last week. Use whole sentences.',
  },
] as const
const samples = 4
const maxTokens = 16

/** Weights, what serves them, and what trains them. */
interface Weights {
  readonly parameter: ParameterName
  readonly model: Pick<ModelService, 'base' | 'sampler' | 'renderer'>
  readonly trainer: Pick<Trainer, 'publish' | 'forward'>
}

/** What fresh samples showed. */
export interface Agreement {
  readonly adapter: AdapterRef
  /** Sampled tokens that were compared. */
  readonly tokens: number
  /** The greatest difference of a log-probability. */
  readonly furthest: number
}

/** How a comparison is made. */
export interface Bounds {
  /** How far apart log-probabilities may be. Default: what the sampler promises, else {@link defaultAgreement}. */
  readonly most?: number | undefined
  readonly seed: number
  readonly signal?: AbortSignal | undefined
}

/** A run that trains weights. */
interface Trains {
  readonly weights: readonly TrainedWeights[]
  readonly options: Pick<RunOptions, 'agreement' | 'seed' | 'signal'>
  emit(event: LearnEvent): void
}

/** {@link refuseDisagreement} for all weights that a run trains, told event by event. */
export async function agree(run: Trains): Promise<void> {
  const { agreement: most, seed = 0, signal } = run.options
  for (const one of run.weights) {
    const { adapter, tokens, furthest } = await refuseDisagreement(one, { most, seed, signal })
    run.emit({ type: 'agreed', ...one.named, adapter: adapter.id, tokens, furthest })
  }
}

/** How far apart log-probabilities may be. */
export const agreementOf = ({ sampler }: Pick<ModelService, 'sampler'>, { most }: Pick<Bounds, 'most'>): number =>
  most ?? sampler.capabilities.agreement ?? defaultAgreement

/**
 * Holds that what serves these weights computes what trains them does: samples from them as they are published now, and
 * compares each token's log-probability with the trainer's. A sampler of another adapter, base or precision would make every
 * update go by ratios that are wrong (invariant 2).
 * @throws LearnError (`learn/served-differs`) that names the adapter; errors of the service pass through.
 */
export async function refuseDisagreement(
  { parameter, model, trainer }: Weights,
  { seed, signal, ...bounds }: Bounds,
): Promise<Agreement> {
  const most = agreementOf(model, bounds)
  const { sampler, renderer } = model
  const adapter = await trainer.publish()
  try {
    const prompt = renderer.start(asked, [])
    const room = Math.min(maxTokens, contextUnder(sampler, adapter) - prompt.length)
    const params = { maxTokens: room, stopTokens: renderer.stop.tokens, seed: rng('agreement', seed).int(2 ** 31) }
    const drawn = await sampler.sample({ prompt, adapter, samples, params, ...(signal && { signal }) })
    signal?.throwIfAborted()
    const told = drawn.filter(({ tokens }) => tokens.length > 0)
    const measured = told.length === 0 ? [] : await trainer.forward(told.map((one) => datumOf(prompt, one)))
    const differences = told.flatMap(({ logprobs }, i) =>
      logprobs.map((logprob, t) => Math.abs(logprob - (measured[i]?.[prompt.length - 1 + t] ?? Number.NaN))),
    )
    const furthest = differences.reduce((far, one) => (one <= far ? far : one), 0)
    const found = { adapter, tokens: differences.length, furthest }
    if (!(furthest <= most) || differences.length === 0) throw differs(parameter, model.base, found, most)
    return found
  } finally {
    await sampler.unload(adapter)
  }
}

/** What was sampled after a prompt, to be measured. */
export function datumOf(prompt: readonly number[], { tokens }: SampledSequence): Datum {
  const all = [...prompt, ...tokens]
  const weights = all.slice(1).map((_, t) => (t < prompt.length - 1 ? 0 : 1))
  return { input: all.slice(0, -1), target: all.slice(1), weights }
}

function differs(parameter: ParameterName, base: string, { adapter, tokens, furthest }: Agreement, most: number) {
  const found =
    tokens === 0
      ? 'it sampled no token'
      : `over ${tokens} fresh tokens log-probabilities differ by up to ${furthest.toPrecision(3)}, and ${most} is allowed`
  return new LearnError({
    code: 'learn/served-differs',
    message: `What is served as adapter "${adapter.id}" over "${base}" is not what is trained as "${parameter}": ${found}. No step was taken.`,
    hint: 'See that the server samples from this adapter, over the same base weights. Where it samples in half precision or in 8 bits, set `server.agreement` of the configuration (in a program, `agreement`) to what it reaches, and `policy.mismatchCap` (a mismatchCap of policyGradient) to 2.',
  })
}
