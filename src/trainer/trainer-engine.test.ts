import { afterAll, expect } from 'vitest'
import { servedTrainer } from '../../test/support/served-trainer.ts'
import { tinyTokenizerFolder } from '../../test/support/tiny-tokenizer.ts'
import { describeEngineConformance } from '../model/embedded/engine.conformance.ts'
import { openTinkerModel } from '../model/tinker/index.ts'

const folder = tinyTokenizerFolder()
const opened = servedTrainer({ limits: { models: 100 } })

describeEngineConformance(
  'our own Tinker server, through our own client',
  async () => (await openTinkerModel({ url: (await opened).url, baseModel: 'tiny', folder })).service,
  { streams: false },
)

afterAll(async () => {
  const server = await opened
  await server.close()
  expect(server.problems).toEqual([])
})
