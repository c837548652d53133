import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ParameterName } from '../src/core/index.ts'
import { refuseDisagreement } from '../src/learn/run/agreement.ts'
import { openTinkerModel } from '../src/model/tinker/index.ts'
import { startTrainerProcess, type TrainerProcess } from './support/trainer-process.ts'

/*
 * A real model from its GGUF file, at a server and at its client. It runs where RATCHET_TEST_SMOLLM2 names the file that
 * `npx ratchet pull smollm2-135m` fetches. Elsewhere it is skipped, and says so.
 */
const model = process.env.RATCHET_TEST_SMOLLM2 ?? ''
if (model === '')
  console.warn('SKIPPED: no GGUF file was served. Set RATCHET_TEST_SMOLLM2 to the file of `ratchet pull smollm2-135m`.')

describe.skipIf(model === '')('SmolLM2 from its GGUF file, at ratchet trainer', () => {
  let folder: string
  let server: TrainerProcess | null = null
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ratchet-server-gguf-'))
  })
  afterEach(async () => {
    await server?.kill()
    rmSync(folder, { recursive: true, force: true })
  })

  it('is opened by its name alone, and samples what it trains', async () => {
    server = await startTrainerProcess(folder, 0, model)
    const { service } = await openTinkerModel({ url: server.url, baseModel: model })
    const trainer = await service.trainer({ kind: 'lora', rank: 8, alpha: 32 }, 1)
    const policy = ParameterName.parse('model')
    const found = await refuseDisagreement({ parameter: policy, model: service, trainer }, { seed: 1 })
    console.log(`furthest: ${found.furthest} over ${found.tokens} tokens`)
    expect(found.tokens).toBeGreaterThan(32)
    await service.close()
  })
})
