import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTinkerServer } from '../../test/support/tinker-server.ts'
import { tinyTokenizerFolder } from '../../test/support/tiny-tokenizer.ts'
import type { Datum, ModelService } from '../core/index.ts'
import { openTinkerModel } from '../model/tinker/index.ts'
import type { PolicyGradientOptions } from '../optimize/weights/index.ts'
import { LearnConfig } from './learn-config.ts'
import { learnOptions } from './learn-options.ts'
import { openSearchJob } from './search-job.ts'

const task = (split: string) =>
  JSON.stringify({ id: split, instruction: 'What colour is a lemon?', answer: 'yellow', split })

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-options-'))
  writeFileSync(join(folder, 'corpus.jsonl'), JSON.stringify({ id: 'lemon', title: 'lemon', lines: ['yellow'] }))
  writeFileSync(join(folder, 'tasks.jsonl'), ['train', 'validation', 'holdout'].map(task).join('\n'))
  const call = { name: 'answer', arguments: { text: 'yellow' } }
  const messages = [
    { role: 'user', content: 'What colour is a lemon?' },
    { role: 'assistant', content: '', toolCalls: [call] },
  ]
  writeFileSync(join(folder, 'demonstrations.jsonl'), JSON.stringify({ messages }))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What a configuration makes of `policy`. */
async function practiceOf(policy: object, model: ModelService): Promise<PolicyGradientOptions> {
  const environment = { corpus: join(folder, 'corpus.jsonl'), tasks: join(folder, 'tasks.jsonl') }
  const config = LearnConfig.parse({ policy, environment, demonstrations: join(folder, 'demonstrations.jsonl') })
  const plan = { config, seed: 0, control: false, deterministic: false, resume: null }
  const job = await openSearchJob(config, 0, model.renderer, (text) => text.length / 3)
  const { optimize } = await learnOptions(plan, job, model)
  const practice: unknown = optimize?.model
  return (practice as { readonly options: PolicyGradientOptions }).options
}

async function atServer<T>(work: (model: ModelService) => Promise<T>): Promise<T> {
  const server = await openTinkerServer()
  const { service } = await openTinkerModel({ url: server.url, baseModel: 'tiny', folder: tinyTokenizerFolder() })
  try {
    return await work(service)
  } finally {
    await service.close()
    await server.close()
  }
}

it('a configuration names what a policy gradient has in a program', async () => {
  const policy = { loss: 'gspo', normalise: { constant: 512 }, mismatchCap: 2 }
  expect(await atServer((model) => practiceOf(policy, model))).toMatchObject(policy)
  const dual = { loss: 'ppo', dualClip: 3, normalise: 'sequence' }
  expect(await atServer((model) => practiceOf(dual, model))).toMatchObject(dual)
  const crossed = atServer((model) => practiceOf({ loss: 'cispo', dualClip: 3 }, model))
  await expect(crossed).rejects.toMatchObject({ message: expect.stringContaining('dualClip') as string })
})

it('a KL in a configuration is to the base model, whatever is trained', async () => {
  const datum: Datum = { input: [1, 2, 3], target: [2, 3, 4] }
  await atServer(async (model) => {
    const { kl } = await practiceOf({ kl: { weight: 0.02, in: 'loss' } }, model)
    expect(kl).toMatchObject({ weight: 0.02, in: 'loss' })
    const trainer = await model.trainer({ kind: 'lora', rank: 4, alpha: 4 }, 1)
    const base = await trainer.forward([datum])
    await trainer.forwardBackward([datum], { kind: 'cross_entropy' })
    await trainer.optimStep({ learningRate: 0.5 })
    expect(await kl?.reference.forward([datum])).toEqual(base)
    expect(await trainer.forward([datum])).not.toEqual(base)
  })
})
