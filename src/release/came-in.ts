import type { Activation, ParameterName, Release, ReleaseId, Repositories, VersionId } from '../core/index.ts'
import { present } from '../errors/index.ts'
import { differences } from './release-record.ts'

/** How the Version of a Parameter that serves came to serve. */
export interface CameIn {
  readonly parameter: ParameterName
  readonly version: VersionId
  /**
   * `promote`: by a gate. `rollback`: somebody took it up again by hand. What a rollback gave back because it undid one
   * promotion came in as it had come in before that. `null`: longer ago than is looked back.
   */
  readonly how: Activation['reason'] | null
  /** Of the activation that brought it: later ones have a higher one. */
  readonly generation: number
  /** Which brought it. */
  readonly release: Release
  /** The Version of the Parameter that served until then; `null` where none did, or it was longer ago than is looked back. */
  readonly before: CameIn | null
}

/** What serves an agent, and how each of its Parameters came to. */
export interface ServingSince {
  readonly activation: Activation
  readonly release: Release
  readonly parameters: readonly CameIn[]
}

/** Activations that are looked back over, at most. */
const mostActivations = 500

type Reading = Pick<Repositories, 'releases'>

/** Tells how what serves an agent came to serve, Parameter by Parameter; `null` where nothing ever did. */
export async function servingSince({ releases }: Reading, agent: string): Promise<ServingSince | null> {
  const activations = (await releases.recent(agent, mostActivations)).toReversed()
  const activation = activations.at(-1)
  if (!activation) return null
  const served = await allOf({ releases }, agent, activations)
  const release = present(served.at(-1), 'what serves')
  const history = new History(activations, served)
  return { activation, release, parameters: history.latest() }
}

/** The release of each activation: those of late by one look-up, the others one by one. */
async function allOf(
  { releases }: Reading,
  agent: string,
  activations: readonly Activation[],
): Promise<readonly Release[]> {
  const known = new Map<ReleaseId, Release>()
  for (const release of await releases.list({ agent, limit: activations.length })) known.set(release.id, release)
  for (const { release: id } of activations) {
    if (!known.has(id)) known.set(id, present(await releases.get(id), `release ${id}`))
  }
  return activations.map(({ release }) => present(known.get(release), `release ${release}`))
}

/** Activations, oldest first, and what each let serve. */
class History {
  readonly #activations: readonly Activation[]
  readonly #releases: readonly Release[]
  readonly #undone = new Map<number, number | null>()

  constructor(activations: readonly Activation[], releases: readonly Release[]) {
    this.#activations = activations
    this.#releases = releases
  }

  latest(): readonly CameIn[] {
    const last = this.#releases.length - 1
    const parameters = Object.keys(this.#releases[last]?.versions ?? {})
    return parameters.flatMap((parameter) => this.#at(parameter, last) ?? [])
  }

  #at(parameter: ParameterName, at: number): CameIn | null {
    const version = this.#versionAt(parameter, at)
    if (version === undefined) return null
    const from = this.#cameIn(parameter, at)
    const { reason, generation } = present(this.#activations[from], 'an activation')
    const how = from > 0 || generation === 1 ? reason : null
    const release = present(this.#releases[from], 'a release')
    return { parameter, version, how, generation, release, before: this.#at(parameter, from - 1) }
  }

  /** Where the Version that a Parameter had after the activation `at` came in, before what was undone since. */
  #cameIn(parameter: ParameterName, at: number): number {
    let from = at
    while (from > 0 && this.#versionAt(parameter, from - 1) === this.#versionAt(parameter, at)) from--
    const undone = this.#undoneBy(from)
    return undone === null ? from : this.#cameIn(parameter, undone - 1)
  }

  /**
   * The promotion that a rollback undid: all that it changed came in by this one, and serves as it did before it. `null` for
   * any other: then somebody chose what is to serve.
   */
  #undoneBy(at: number): number | null {
    const known = this.#undone.get(at)
    if (known !== undefined) return known
    const found = this.#findUndone(at)
    this.#undone.set(at, found)
    return found
  }

  #findUndone(at: number): number | null {
    const [before, after] = [this.#releases[at - 1], this.#releases[at]]
    if (this.#activations[at]?.reason !== 'rollback' || !before || !after) return null
    const promotions = new Set<number>()
    for (const parameter of differences(before.versions, after.versions)) {
      const from = this.#cameIn(parameter, at - 1)
      const isUndone = this.#versionAt(parameter, from - 1) === after.versions[parameter]
      if (this.#activations[from]?.reason !== 'promote' || !isUndone) return null
      promotions.add(from)
    }
    const [promotion = null] = promotions
    return promotions.size === 1 ? promotion : null
  }

  #versionAt(parameter: ParameterName, at: number): VersionId | undefined {
    return this.#releases[at]?.versions[parameter]
  }
}
