import { afterAll } from 'vitest'
import { openTinkerServer } from '../../../test/support/tinker-server.ts'
import { tinyTokenizerFolder } from '../../../test/support/tiny-tokenizer.ts'
import { describeEngineConformance } from '../embedded/engine.conformance.ts'
import { openTinkerModel } from './open-tinker-model.ts'
import type { ServerKind } from './server-kind.ts'

const folder = tinyTokenizerFolder()

// The stand-in sums losses, as the hosted service does; how weights are published can be either.
const kinds: readonly ServerKind[] = ['tinker']
for (const server of kinds) {
  const opened = openTinkerServer()
  describeEngineConformance(
    `a Tinker server (${server})`,
    async () => (await openTinkerModel({ url: (await opened).url, baseModel: 'tiny', folder, server })).service,
    { streams: false },
  )
  afterAll(async () => (await opened).close())
}
