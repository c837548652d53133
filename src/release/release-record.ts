import {
  type Activation,
  contentHash,
  type ReceiptId,
  type Release,
  ReleaseId,
  type Repositories,
  type RunId,
  type Version,
  type VersionSet,
} from '../core/index.ts'
import { present } from '../errors/index.ts'

/** A release is named by what it is, so that the same promotion made twice is one release. */
export function newRelease(
  release: Pick<Release, 'agent' | 'versions' | 'createdAt'>,
  origin: { readonly receipt: null; readonly run: null } | { readonly receipt: ReceiptId; readonly run: RunId | null },
): Release {
  const { agent, versions } = release
  const id = ReleaseId.parse(contentHash({ agent, versions, receipt: origin.receipt }).slice(0, 16))
  return { id, ...release, ...origin }
}

/** Keeps a release, if it is not there already. @returns it as it was made first. */
export async function keepRelease({ releases }: Pick<Repositories, 'releases'>, made: Release): Promise<Release> {
  const known = await releases.get(made.id)
  if (!known) await releases.put(made)
  return known ?? made
}

/** A release that some record names. */
export async function releaseById({ releases }: Pick<Repositories, 'releases'>, id: ReleaseId): Promise<Release> {
  return present(await releases.get(id), `release ${id}`)
}

/** The release that an activation let serve. */
export function releaseOf(store: Pick<Repositories, 'releases'>, { release }: Activation): Promise<Release> {
  return releaseById(store, release)
}

/** Lets a release serve after `current`. */
export async function activate(
  tx: Pick<Repositories, 'releases'>,
  current: Activation,
  release: Release,
  reason: Activation['reason'],
  at: number,
): Promise<Activation> {
  const generation = current.generation + 1
  const activation = { agent: release.agent, release: release.id, reason, generation, at }
  await tx.releases.activate(activation)
  return activation
}

/** What served when the release of `current` came into service through a gate; `null` for the initial release. */
export function servedBefore(history: readonly Activation[], current: Activation): ReleaseId | null {
  const cameIn = history.findLastIndex(({ release, reason }) => release === current.release && reason !== 'rollback')
  return history[cameIn - 1]?.release ?? null
}

export function versionSetOf(versions: readonly Version[]): VersionSet {
  return Object.fromEntries(versions.map(({ parameter, id }) => [parameter, id]))
}

/** The Parameters that two sets do not have at the same Version. */
export function differences(a: VersionSet, b: VersionSet): readonly string[] {
  return Object.keys({ ...a, ...b }).filter((parameter) => a[parameter] !== b[parameter])
}

/**
 * The Parameters that serve otherwise than a set says. One that the release does not name, as after a rollback to before it
 * was declared, serves as it was declared last.
 */
export async function servesOtherwise(
  { releases }: Pick<Repositories, 'releases'>,
  { agent, versions }: Pick<Release, 'agent' | 'versions'>,
  than: VersionSet,
): Promise<readonly string[]> {
  const changed = differences(versions, than)
  if (changed.every((parameter) => versions[parameter] !== undefined)) return changed
  const [declared] = await releases.list({ agent, asDeclared: true, limit: 1 })
  return changed.filter(
    (parameter) => versions[parameter] !== undefined || declared?.versions[parameter] !== than[parameter],
  )
}
