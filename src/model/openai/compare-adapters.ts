import { type AdapterRef, contextUnder, rng } from '../../core/index.ts'
import type { EmbeddedEngine } from '../embedded/engine.ts'

/** What two adapters are compared with: an engine in its deterministic mode, where equal weights give equal bits. */
export interface ComparingEngine extends Pick<EmbeddedEngine, 'sampler' | 'loadAdapter'> {
  readonly datastores: Pick<EmbeddedEngine['datastores'], 'read'>
}

/** How far an adapter and its copy are apart. */
export interface AdapterComparison {
  /** Token sequences, and the log-probabilities in them, that were compared. */
  readonly sequences: number
  readonly compared: number
  /** The greatest difference of a log-probability between the two, in nats; NaN where one is no number. */
  readonly difference: number
  /** The greatest difference between the adapter and the base model: where it is small, `difference` says little. */
  readonly effect: number
}

/** Tokens that are read of a sequence, and those that the adapter says where none is given. */
const longest = { read: 512, said: 48 }
const saidSequences = 4

/**
 * Compares log-probabilities at temperature 1 under an adapter, under its copy and under the base model.
 * @throws InvalidSampleRequestError for a sequence with a token outside the vocabulary.
 */
export async function compareAdapters(
  engine: ComparingEngine,
  {
    adapter,
    readBack,
    sequences,
  }: {
    readonly adapter: Uint8Array
    readonly readBack: Uint8Array
    readonly sequences?: readonly (readonly number[])[] | undefined
  },
): Promise<AdapterComparison> {
  const original = await engine.loadAdapter(adapter)
  const copy = await engine.loadAdapter(readBack)
  try {
    const most = Math.min(longest.read, contextUnder(engine.sampler, original))
    const given = sequences?.map((tokens) => tokens.slice(0, most)).filter(({ length }) => length > 1) ?? []
    const texts = given.length > 0 ? given : await saidBy(engine, original)
    const expected = await logprobsUnder(engine, original, texts)
    return {
      sequences: texts.length,
      compared: expected.length,
      difference: furthest(expected, await logprobsUnder(engine, copy, texts)),
      effect: furthest(expected, await logprobsUnder(engine, null, texts)),
    }
  } finally {
    await engine.sampler.unload(original)
    await engine.sampler.unload(copy)
  }
}

/** What an adapter says after tokens that were drawn, by seeds of their own: always the same. */
async function saidBy({ sampler }: ComparingEngine, adapter: AdapterRef): Promise<readonly (readonly number[])[]> {
  const first = rng('adapter-comparison')
  const maxTokens = Math.min(longest.said, contextUnder(sampler, adapter) - 1)
  const prompts = Array.from({ length: saidSequences }, () => [first.int(sampler.capabilities.vocabularySize)])
  return Promise.all(
    prompts.map(async (prompt, seed) => {
      const [said] = await sampler.sample({ prompt, adapter, params: { maxTokens, seed } })
      return [...prompt, ...(said?.tokens ?? [])]
    }),
  )
}

/** Log-probabilities of every token of the texts but their first ones. */
async function logprobsUnder(
  { datastores }: ComparingEngine,
  adapter: AdapterRef | null,
  texts: readonly (readonly number[])[],
): Promise<readonly number[]> {
  const read = await Promise.all(texts.map((text) => datastores.read(text, { adapter })))
  return read.flatMap(({ logprobs }) => [...logprobs])
}

/** The greatest difference; NaN where there is one that is no number. */
const furthest = (some: readonly number[], others: readonly number[]): number =>
  some.reduce((most, value, i) => Math.max(most, Math.abs(value - (others[i] ?? Number.NaN))), 0)
