import { expect, it } from 'vitest'
import { servedTrainer, tinyService } from '../../test/support/served-trainer.ts'
import { tinyTokenizerFolder } from '../../test/support/tiny-tokenizer.ts'
import type { TrainerPath } from '../core/index.ts'
import { openTinkerModel } from '../model/tinker/index.ts'

it('a checkpoint that our client downloads from our server is the adapter, in the embedded engine too', async () => {
  const server = await servedTrainer()
  const { service, checkpoints } = await openTinkerModel({
    url: server.url,
    baseModel: 'tiny',
    folder: tinyTokenizerFolder(),
  })
  const trainer = await service.trainer({ kind: 'lora', rank: 4, alpha: 32 }, 1)
  await trainer.forwardBackward([{ input: [1, 2, 3], target: [2, 3, 4] }], { kind: 'cross_entropy' })
  await trainer.optimStep({ learningRate: 0.05 })
  const { uri } = (await trainer.saveWeights()) as TrainerPath
  const greedy = { prompt: [1, 2, 3], params: { maxTokens: 8, temperature: 0 } }
  const [there] = await service.sampler.sample({ ...greedy, adapter: await trainer.publish() })

  const { bytes, form } = await checkpoints.download(uri)
  expect(form).toBe('safetensors')
  const here = await tinyService()
  const [same] = await here.sampler.sample({ ...greedy, adapter: await here.loadAdapter(bytes) })
  const [base] = await here.sampler.sample({ ...greedy, adapter: null })
  expect(same?.logprobs).toEqual(there?.logprobs)
  expect(base?.logprobs).not.toEqual(there?.logprobs)

  const absent = checkpoints.download(uri.replace(/[^/]+$/, 'none'))
  await expect(absent).rejects.toMatchObject({ code: 'model/tinker-refused', status: 404 })
  await here.close()
  await service.close()
  await server.close()
})
