import type { Models } from '../../agent/index.ts'
import {
  asWeights,
  type ModelService,
  type Run,
  type Store,
  type Version,
  type VersionSet,
  type WeightsValue,
} from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import type { Registry } from '../../release/index.ts'
import { LearnError } from '../errors.ts'
import type { LearnOptions } from '../options.ts'
import type { ServingVersions } from './serving.ts'

/**
 * Holds that the model given is exactly the base of a `weights` value: the same reference and the same content, since a
 * folder keeps its name when its files change. Without it, an adapter turned off would not be the base agent
 * (invariant 9).
 * @throws LearnError when it is another.
 */
export function assertSameBase(
  parameter: string,
  { base, baseHash }: Pick<WeightsValue, 'base' | 'baseHash'>,
  model: Pick<ModelService, 'base' | 'baseHash'>,
): void {
  if (base !== model.base) throw otherBase(`"${parameter}" serves on base "${base}"`, base, model.base)
  if (baseHash === model.baseHash) return
  throw new LearnError({
    code: 'learn/other-base',
    message: `"${parameter}" was learned on base "${base}" with content ${short(baseHash)}; what is there now has content ${short(model.baseHash)}.`,
    hint: 'Use another store for another model; one at a server counts as another than its files here. Or put changed files back.',
  })
}

export const otherBase = (what: string, base: string, given: string): LearnError =>
  new LearnError({
    code: 'learn/other-base',
    message: `${what}, but the model given is "${given}".`,
    hint: `Learn on "${base}", or use another store for the new base.`,
  })

const short = (hash: string) => hash.slice(0, 12)

/** What serves; for an earlier run, what served when it began, whatever was released since. */
export async function servingVersions(
  registry: Registry,
  models: Models,
  { store }: Pick<LearnOptions, 'store'>,
  agent: string,
  earlier: Run | null,
): Promise<ServingVersions> {
  const { release, activation } = await registry.current(agent)
  const activations = await store.releases.activations(agent)
  const { generation } = activations.findLast(({ at }) => earlier !== null && at <= earlier.startedAt) ?? activation
  return { versions: await versionsOn(models, store, earlier?.versionsIn ?? release.versions), generation }
}

/** @throws LearnError when one of them is of another base than the model that answers for it. */
async function versionsOn(models: Models, store: Store, set: VersionSet): Promise<ServingVersions['versions']> {
  const versions = new Map<string, Version>()
  for (const [name, id] of Object.entries(set)) {
    const version = present(await store.versions.get(id), `version ${id}`)
    const [weights, model] = [asWeights(version.value), models.get(name)]
    if (weights && model) assertSameBase(name, weights, model)
    versions.set(name, version)
  }
  return versions
}

/** Holds that the agent began in this store on the models as they are now: all that it learned since rests on that. */
export async function refuseOtherBase(
  agent: string,
  models: Models,
  { store }: Pick<LearnOptions, 'store'>,
): Promise<void> {
  const [first] = await store.releases.activations(agent)
  const initial = first && (await store.releases.get(first.release))
  if (initial) await versionsOn(models, store, initial.versions)
}
