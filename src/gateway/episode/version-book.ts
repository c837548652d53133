import { LRUCache } from 'lru-cache'
import type { z } from 'zod'
import { mintVersion, type VersionId, type VersionRepository, type WeightsValue } from '../../core/index.ts'

/** Whoever asks for many models under many names fills no more than this. */
const mostVersions = 1_024

/** What decides in a served model, as Versions of the Parameter `model`: each is written once, before it is referred to. */
export class VersionBook {
  readonly #versions: VersionRepository
  /** By the text of their weights, those that are in the store. */
  readonly #known = new LRUCache<string, VersionId>({ max: mostVersions })
  readonly #written = new LRUCache<VersionId, Promise<void>>({ max: mostVersions })

  constructor(versions: VersionRepository) {
    this.#versions = versions
  }

  /**
   * @returns the Version of these weights, once it is in the store.
   * @throws StoreError
   */
  async versionOf(weights: z.infer<typeof WeightsValue>): Promise<VersionId> {
    const text = JSON.stringify(weights)
    const known = this.#known.get(text)
    if (known !== undefined) return known
    const id = await this.#put(weights)
    this.#known.set(text, id)
    return id
  }

  async #put(weights: z.infer<typeof WeightsValue>): Promise<VersionId> {
    const version = mintVersion('model', weights, { parents: [], run: null })
    let written = this.#written.get(version.id)
    if (!written) {
      written = this.#versions.put(version)
      this.#written.set(version.id, written)
    }
    try {
      await written
    } catch (error) {
      if (this.#written.peek(version.id) === written) this.#written.delete(version.id)
      throw error
    }
    return version.id
  }
}
