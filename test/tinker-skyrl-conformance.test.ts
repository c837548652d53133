import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe } from 'vitest'
import { describeEngineConformance } from '../src/model/embedded/engine.conformance.ts'
import { openTinkerModel } from '../src/model/tinker/index.ts'
import { makeTinyModel, type SkyrlServer, startSkyrl } from './support/skyrl-server.ts'

/*
 * The suite that the embedded engine and our own server are held to, against SkyRL's real server. It runs where
 * RATCHET_TEST_SKYRL names the Python that has it: see tinker-skyrl.test.ts. Elsewhere it is skipped.
 */
const python = process.env.RATCHET_TEST_SKYRL ?? ''

describe.skipIf(python === '')("SkyRL's own server", () => {
  const folder = mkdtempSync(join(tmpdir(), 'ratchet-skyrl-suite-'))
  const model = join(folder, 'tiny')
  let server: SkyrlServer | null = null
  describeEngineConformance(
    'through our own client',
    async () => {
      makeTinyModel(python, model)
      server = await startSkyrl(python, model, join(folder, 'served'))
      return (await openTinkerModel({ url: server.url, baseModel: model, server: 'skyrl-jax' })).service
    },
    { streams: false },
  )
  afterAll(async () => {
    await server?.kill()
    rmSync(folder, { recursive: true, force: true })
  })
})
