import type { Canary, ParameterName, Release, Repositories, VersionSet } from '../core/index.ts'

/**
 * The new Versions that a candidate names: those of its set that did not serve when it was made. What it does not name
 * stays as it serves. A set of every Parameter, as canaries once kept, comes to the same patch.
 * @param served what served when it was made.
 */
export function patchOf(candidate: VersionSet, served: VersionSet): VersionSet {
  return Object.fromEntries(Object.entries(candidate).filter(([parameter, id]) => served[parameter] !== id))
}

/** What serves with a patch over it. */
export function patched(served: VersionSet, patch: VersionSet): VersionSet {
  return { ...served, ...patch }
}

/**
 * The Parameters of a patch that serve otherwise than when it was made: what it was made from is gone, and it is stale. A
 * change of any other Parameter is none of its concern.
 */
export function staleIn(patch: VersionSet, then: VersionSet, now: VersionSet): readonly ParameterName[] {
  return Object.keys(patch).filter((parameter) => then[parameter] !== now[parameter])
}

/** A canary's candidate beside what serves now. */
export interface Standing {
  /** The new Versions that it tries. */
  readonly patch: VersionSet
  /** What its arm gets: what serves, with the patch over it. */
  readonly candidate: VersionSet
  /** Why it compares nothing any more: Parameters of it that serve otherwise than when it began; empty while it may go on. */
  readonly stale: readonly ParameterName[]
}

/** How a canary stands to what serves. */
export async function standingOf(
  { releases }: Pick<Repositories, 'releases'>,
  canary: Pick<Canary, 'baseline' | 'candidate'>,
  serving: Release,
): Promise<Standing> {
  const began = serving.id === canary.baseline ? serving : await releases.get(canary.baseline)
  // What is not known serves no more.
  if (!began) return { patch: canary.candidate, candidate: canary.candidate, stale: Object.keys(canary.candidate) }
  const patch = patchOf(canary.candidate, began.versions)
  return {
    patch,
    candidate: patched(serving.versions, patch),
    stale: staleIn(patch, began.versions, serving.versions),
  }
}
