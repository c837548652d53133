import type { BlobHash, ModelService, Trainer } from '../../core/index.ts'
import type { StoredSampler } from '../journal/events.ts'

/**
 * Log-probabilities of prompts. A sampler tells none, so a trainer with the same weights measures them; the last one is kept,
 * because prompts come in batches. Without weights it is the base model: a fresh adapter changes nothing.
 */
export class PromptScorer {
  readonly #service: Pick<ModelService, 'trainer'>
  readonly #blob: (hash: BlobHash) => Promise<Uint8Array>
  #held: { readonly key: string; readonly trainer: Promise<Trainer> } | null = null
  #turn: Promise<unknown> = Promise.resolve()

  constructor(service: Pick<ModelService, 'trainer'>, blob: (hash: BlobHash) => Promise<Uint8Array>) {
    this.#service = service
    this.#blob = blob
  }

  /** One entry a token of the prompt; `null` for the first, which follows nothing. */
  score(weights: StoredSampler['weights'], prompt: readonly number[]): Promise<readonly (number | null)[]> {
    const work = this.#turn.then(async () => {
      if (prompt.length < 2) return prompt.map(() => null)
      const trainer = await this.#with(weights)
      const [logprobs = []] = await trainer.forward([{ input: prompt.slice(0, -1), target: prompt.slice(1) }])
      return [null, ...logprobs]
    })
    this.#turn = work.catch(() => {})
    return work
  }

  async close(): Promise<void> {
    await this.#turn
    await this.#drop()
  }

  async #with(weights: StoredSampler['weights']): Promise<Trainer> {
    const key = weights?.blob ?? 'base'
    if (this.#held?.key === key) return this.#held.trainer
    await this.#drop()
    const trainer = this.#open(weights)
    this.#held = { key, trainer }
    return trainer
  }

  async #open(weights: StoredSampler['weights']): Promise<Trainer> {
    const trainer = await this.#service.trainer(weights?.lora ?? { kind: 'lora', rank: 1, alpha: 1 }, 0)
    if (weights !== null) await trainer.loadWeights(await this.#blob(weights.blob))
    return trainer
  }

  async #drop(): Promise<void> {
    const held = this.#held
    this.#held = null
    await held?.trainer.then(
      (trainer) => trainer.close(),
      () => {},
    )
  }
}
