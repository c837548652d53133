import {
  asWeights,
  type ModelService,
  type Saved,
  savedAt,
  type Store,
  type WeightsValue,
} from '../../../core/index.ts'
import { Registry } from '../../../release/index.ts'
import { LearnError } from '../../errors.ts'

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
 * @param demonstrations how many there are to choose by.
 * @param model of the weights that would begin from it; `null`: there are none.
 * @throws LearnError for an adapter of another base, two of one name, and a library without demonstrations to choose by.
 */
export function refuseLibrary(
  library: readonly LibraryAdapter[],
  demonstrations: number,
  model: Pick<ModelService, 'base' | 'baseHash'> | null,
): void {
  if (library.length === 0) return
  if (!model || demonstrations === 0) {
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

/** An adapter that a run cannot begin from. */
export const unusable = (name: string, problem: string, cause?: unknown): LearnError =>
  new LearnError({
    code: 'learn/unusable-adapter',
    message: `The adapter "${name}" of prime.startFrom cannot be begun from: ${problem}.`,
    hint: 'Leave it out, or give the run the base, rank and targets that it was learned with.',
    ...(cause === undefined ? {} : { cause }),
  })
