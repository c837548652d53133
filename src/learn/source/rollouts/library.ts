import {
  asWeights,
  type ModelService,
  type Saved,
  savedAt,
  type Store,
  type WeightsValue,
} from '../../../core/index.ts'
import { InputError } from '../../../errors/index.ts'
import { demonstrationDatum } from '../../../optimize/weights/index.ts'
import { Registry } from '../../../release/index.ts'
import { LearnError } from '../../errors.ts'
import type { RolloutOptions } from '../../options.ts'
import type { TrainedWeights } from '../../run/trained-weights.ts'
import { spread } from '../../preflight/index.ts'
import type { Demonstrations } from './demonstrations.ts'
import type { KeptWeights, RolloutRun } from './rollout-run.ts'

/** An adapter that was learned for other work, from which a run can begin. */
export interface LibraryAdapter extends Pick<WeightsValue, 'base' | 'baseHash'> {
  /** What it is called in what the run tells. */
  readonly name: string
  /** The trained weights, as a trainer saved them. */
  load(): Promise<Saved>
}

/**
 * The adapters that agents serve now, named `AGENT/PARAMETER`; nothing for weights that serve as the base model.
 * @throws UnknownAgentError for an agent of which nothing was ever released.
 */
export async function releasedAdapters(store: Store, agents: readonly string[]): Promise<readonly LibraryAdapter[]> {
  const registry = new Registry(store)
  const found: LibraryAdapter[] = []
  for (const agent of agents) {
    const { release } = await registry.current(agent)
    for (const [parameter, id] of Object.entries(release.versions)) {
      const weights = asWeights((await store.versions.get(id))?.value)
      if (!weights || weights.adapter === null) continue
      const { base, baseHash, adapter } = weights
      found.push({ name: `${agent}/${parameter}`, base, baseHash, load: () => savedAt(store.blobs, adapter) })
    }
  }
  return found
}

/** How likely the demonstrations are under an adapter; `null` is the one that serves. */
export interface AdapterScore {
  readonly name: string | null
  /** Mean log-probability of a demonstrated token. */
  readonly logprob: number
}

/**
 * Holds that a library suits a run, before it begins.
 * @throws LearnError for an adapter of another base, two of one name, and a library without demonstrations to choose by.
 */
export function refuseLibrary(
  { prime }: Pick<RolloutOptions, 'prime'>,
  model: Pick<ModelService, 'base' | 'baseHash'> | null,
): void {
  const library = prime?.startFrom ?? []
  if (library.length === 0) return
  if (!model || prime?.demonstrations.length === 0) {
    throw new LearnError({
      code: 'learn/nothing-to-choose-by',
      message: 'prime.startFrom gives adapters to begin from, and no demonstrations to choose one by.',
      hint: 'Give demonstrations of the new work in prime.demonstrations: a few are enough.',
    })
  }
  const names = new Set<string>()
  for (const { name, base, baseHash } of library) {
    if (names.has(name)) throw unusable(name, 'another one has the same name')
    if (base !== model.base) throw unusable(name, `it is of the base "${base}", and the model given is "${model.base}"`)
    if (baseHash !== model.baseHash) throw unusable(name, `the files of "${base}" were others when it was learned`)
    names.add(name)
  }
}

const unusable = (name: string, problem: string, cause?: unknown): LearnError =>
  new LearnError({
    code: 'learn/unusable-adapter',
    message: `The adapter "${name}" of prime.startFrom cannot be begun from: ${problem}.`,
    hint: 'Leave it out, or give the run the base, rank and targets that it was learned with.',
    ...(cause === undefined ? {} : { cause }),
  })

/** Demonstrations by which adapters are compared, at most. */
const compared = 64

/**
 * Begins from the adapter of the library under which the demonstrations are likeliest, where that is likelier than what
 * serves; once in a run. A set of policies that were learned elsewhere, and a quick step from the best of them ("Learning
 * Meta Representations for Agents in Multi-Agent Reinforcement Learning"; there the set is learned as a whole, here it is
 * what was released).
 * @throws LearnError for an adapter that does not fit what is trained.
 */
export async function startFromLibrary(run: RolloutRun, taught: TrainedWeights<KeptWeights>): Promise<void> {
  const library = run.options.prime?.startFrom ?? []
  if (library.length === 0 || taught.at('start') !== null || taught.state.passes > 0) return
  const { trainer } = taught
  const given = spread(run.demonstrations.given, compared)
  await taught.keep('start')
  let best: { readonly score: AdapterScore; readonly saved: Saved | null } = {
    score: { name: null, logprob: await likelihood(trainer, given) },
    saved: await taught.kept('start'),
  }
  const scores = [best.score]
  for (const one of library) {
    const { name } = one
    run.options.signal?.throwIfAborted()
    const saved = await one.load()
    await fitted(name, () => trainer.loadWeights(saved))
    const score = { name, logprob: await likelihood(trainer, given) }
    scores.push(score)
    if (score.logprob > best.score.logprob) best = { score, saved }
  }
  if (best.saved !== null) await trainer.loadWeights(best.saved)
  // Saved anew: what another agent keeps is not this run's to let go of.
  if (best.score.name !== null) await taught.keep('start')
  run.emit({ type: 'began-from', ...taught.named, adapter: best.score.name, scores, demonstrations: given.length })
  await run.checkpoint()
}

async function fitted(name: string, load: () => Promise<void>): Promise<void> {
  try {
    await load()
  } catch (error) {
    if (error instanceof InputError) throw unusable(name, error.message, error)
    throw error
  }
}

/** Mean log-probability of a demonstrated token. */
async function likelihood(
  trainer: Pick<TrainedWeights['trainer'], 'forward'>,
  demonstrations: Demonstrations['given'],
): Promise<number> {
  const data = demonstrations.map((one) => demonstrationDatum(one, 1))
  const logprobs = await trainer.forward(data)
  const counted = data.flatMap(({ weights = [] }, i) =>
    weights.flatMap((weight, t) => (weight === 0 ? [] : [logprobs[i]?.[t] ?? Number.NaN])),
  )
  return counted.reduce((sum, one) => sum + one, 0) / Math.max(1, counted.length)
}
