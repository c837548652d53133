import { afterAll } from 'vitest'
import { openTinkerServer } from '../../../test/support/tinker-server.ts'
import { tinyTokenizerFolder } from '../../../test/support/tiny-tokenizer.ts'
import { describeEngineConformance } from '../embedded/engine.conformance.ts'
import { openTinkerModel } from './open-tinker-model.ts'

const folder = tinyTokenizerFolder()

for (const [server, reduction] of [
  ['tinker', 'sum'],
  ['skyrl-jax', 'sequence-mean'],
] as const) {
  const opened = openTinkerServer(undefined, reduction)
  describeEngineConformance(
    `a Tinker server of the kind ${server}`,
    async () => (await openTinkerModel({ url: (await opened).url, baseModel: 'tiny', folder, server })).service,
    { streams: false },
  )
  afterAll(async () => (await opened).close())
}
