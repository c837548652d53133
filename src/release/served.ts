import { isDeepStrictEqual } from 'node:util'
import type { Activation, Canary, ParameterName, Repositories, Version, VersionId, VersionSet } from '../core/index.ts'
import { present } from '../errors/index.ts'
import type { ServingAgent, Versions } from './assignment.ts'
import { standingOf } from './patch.ts'
import { releaseOf } from './release-record.ts'

/** What the router reads. */
export type ServingStore = Pick<Repositories, 'releases' | 'canaries' | 'versions'>

/** What serves all agents at one revision. Replaced as a whole, never changed. */
export type ServingAgents = ReadonlyMap<string, ServingAgent>

/** What is loaded, and what could not be: an agent that cannot be read keeps what it had. */
export interface Loaded {
  readonly served: ServingAgents
  readonly failures: readonly unknown[]
}

/**
 * Reads what serves.
 * @param wanted the agents; `null` for all.
 * @param last what was loaded before: Versions that it has are not read again, and an agent that cannot be read stays as
 * it was there.
 * @throws StoreError when it cannot be said at all what serves.
 */
export async function loadServed(
  store: ServingStore,
  wanted: ReadonlySet<string> | null,
  last: ServingAgents,
): Promise<Loaded> {
  // Canaries first: one that is promoted between the two looks finds its own Versions serving, and is left out below.
  const canaries = new Map((await store.canaries.running()).map((canary) => [canary.agent, canary]))
  const activations = (await store.releases.serving()).filter(({ agent }) => wanted?.has(agent) ?? true)
  const known = knownVersions(last)
  const served = new Map<string, ServingAgent>()
  const failures: unknown[] = []
  for (const activation of activations) {
    const { agent } = activation
    try {
      served.set(agent, await loadAgent(store, activation, canaries.get(agent) ?? null, known))
    } catch (error) {
      failures.push(error)
      const before = last.get(agent)
      if (before) served.set(agent, before)
    }
  }
  return { served, failures }
}

async function loadAgent(
  store: ServingStore,
  activation: Activation,
  canary: Canary | null,
  known: ReadonlyMap<VersionId, Version>,
): Promise<ServingAgent> {
  const { agent, generation } = activation
  const release = await releaseOf(store, activation)
  const versions = await versionsOf(store, release.versions, known)
  return {
    agent,
    release,
    generation,
    versions,
    canary: canary && (await triedBeside(store, canary, { release, generation }, known)),
  }
}

/**
 * What a canary tries now: what serves, with its patch over it, so that a faster Parameter reaches both arms at once. `null`
 * for a stale one.
 */
async function triedBeside(
  store: ServingStore,
  canary: Canary,
  { release, generation }: Pick<ServingAgent, 'release' | 'generation'>,
  known: ReadonlyMap<VersionId, Version>,
): Promise<ServingAgent['canary']> {
  const { candidate, stale } = await standingOf(store, canary, release)
  if (stale.length > 0) return null
  return { canary, generation: generation + 1, versions: await versionsOf(store, candidate, known) }
}

async function versionsOf(
  { versions }: ServingStore,
  set: VersionSet,
  known: ReadonlyMap<VersionId, Version>,
): Promise<Versions> {
  const loaded = new Map<ParameterName, Version>()
  for (const [parameter, id] of Object.entries(set)) {
    const before = known.get(id)
    if (before && !mayHoldItems(before)) {
      loaded.set(parameter, before)
      continue
    }
    const read = present(await versions.get(id), `version ${id} of "${parameter}"`)
    // The same object as long as it says the same: what was made of it, such as the index of a memory, hangs on that.
    loaded.set(parameter, before && isDeepStrictEqual(before, read) ? before : read)
  }
  return loaded
}

/** Whether an erasure may have changed it: items that were learned from a person go from Versions too. */
const mayHoldItems = ({ value }: Version): boolean => 'value' in value

function knownVersions(served: ServingAgents): ReadonlyMap<VersionId, Version> {
  const known = new Map<VersionId, Version>()
  for (const { versions, canary } of served.values()) {
    for (const version of [...versions.values(), ...(canary?.versions.values() ?? [])]) known.set(version.id, version)
  }
  return known
}
