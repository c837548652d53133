import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ModelService, Saved } from '../../src/core/index.ts'
import { bytesOf, type TransformerConfig, openEmbeddedEngine } from '../../src/model/index.ts'
import { type StartTrainerOptions, startTrainer } from '../../src/trainer/index.ts'
import { recorded, recordedModel } from './recorded.ts'

/** As many tokens as the tokenizer of `tinyTokenizerFolder`: bytes, and three special ones. */
export const tinyVocabulary = 259

/** A tiny random model in the embedded engine, as a trainer server serves it. */
export async function tinyService(): Promise<
  Pick<ModelService, 'base' | 'sampler' | 'trainer' | 'loadAdapter' | 'close'>
> {
  const { config } = recorded('llama') as { config: TransformerConfig }
  const model = recordedModel({ ...config, vocabSize: tinyVocabulary, maxPositions: 512 })
  const decode = (tokens: readonly number[]) => String.fromCharCode(...tokens)
  const engine = await openEmbeddedEngine({ model, decode, workers: 1, threadsPerWorker: 1 })
  return {
    base: 'tiny',
    sampler: engine.sampler,
    trainer: (method, seed) => engine.trainer({ method, seed }),
    loadAdapter: async (saved: Saved) => engine.loadAdapter(bytesOf(saved)),
    close: () => engine.close(),
  }
}

/** A trainer server over the tiny model, on any free port. */
export async function servedTrainer(options: Partial<StartTrainerOptions> = {}) {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'ratchet-trainer-'))
  const service = await tinyService()
  const problems: unknown[] = []
  const told = (error: unknown) => void problems.push(error)
  const server = await startTrainer({
    service,
    host: '127.0.0.1',
    port: 0,
    onFatal: told,
    onUnexpected: told,
    ...options,
    folder,
  })
  return {
    url: server.url,
    folder,
    /** What the server did not expect. */
    problems,
    async close() {
      await server.close()
      await service.close()
    },
  }
}
