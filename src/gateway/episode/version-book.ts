import { LRUCache } from 'lru-cache'
import type { z } from 'zod'
import { mintVersion, type VersionId, type VersionRepository, type WeightsValue } from '../../core/index.ts'

/** Whoever asks for many models under many names fills no more than this. */
const mostVersions = 1_024

/** What decides in a served model, as Versions of the Parameter `model`: each is written once, before it is referred to. */
export class VersionBook {
  readonly #versions: VersionRepository
  /** By the text of their weights. */
  readonly #written = new LRUCache<string, Promise<VersionId>>({ max: mostVersions })

  constructor(versions: VersionRepository) {
    this.#versions = versions
  }

  /**
   * @returns the Version of these weights, once it is in the store.
   * @throws StoreError
   */
  async versionOf(weights: z.infer<typeof WeightsValue>): Promise<VersionId> {
    const text = JSON.stringify(weights)
    let written = this.#written.get(text)
    if (!written) {
      written = this.#write(weights)
      this.#written.set(text, written)
    }
    try {
      return await written
    } catch (error) {
      if (this.#written.peek(text) === written) this.#written.delete(text)
      throw error
    }
  }

  async #write(weights: z.infer<typeof WeightsValue>): Promise<VersionId> {
    const version = mintVersion('model', weights, { parents: [], run: null })
    await this.#versions.put(version)
    return version.id
  }
}
