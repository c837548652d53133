import type * as fs from 'node:fs/promises'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { servedTrainer } from '../../test/support/served-trainer.ts'
import { datumBody, passBody, PatientClient, stepBody } from '../../test/support/trainer-client.ts'
import { fileBlobs } from '../store/index.ts'
import { eraseOwner } from './index.ts'

// Who runs tests may read every file.
vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof fs>()
  return {
    ...real,
    open: async (...how: Parameters<typeof real.open>) => {
      if (String(how[0]).endsWith('locked')) throw Object.assign(new Error('EACCES'), { code: 'EACCES' })
      return real.open(...how)
    },
  }
})

it('a file that cannot be read stops no start, is told of, and may be a store whose weights stay', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ratchet-trainer-sweep-'))
  const first = await servedTrainer({ folder })
  const client = new PatientClient(first.url)
  const model = await client.model({ rank: 4, seed: 1 }, 'tiny')
  await client.result('/forward_backward', passBody(model, 1, [datumBody([1, 2, 3])]))
  await client.result('/optim_step', stepBody(model, 2))
  await client.result('/save_weights', { model_id: model, seq_id: 3, path: 'kept' })
  await first.close()
  const storage = fileBlobs(join(folder, 'blobs'))
  const theirs = await storage.put(Buffer.from('of a store'))
  writeFileSync(join(folder, 'locked'), 'x')
  const told: unknown[] = []
  const server = await servedTrainer({ folder, onUnswept: (error) => void told.push(error) })
  await server.close()
  const refusal = {
    code: 'trainer/unreadable-file',
    message: expect.stringContaining(join(folder, 'locked')) as string,
  }
  expect(told).toMatchObject([refusal])
  await expect(eraseOwner(folder, 'open', { dryRun: false })).rejects.toMatchObject(refusal)
  expect(await eraseOwner(folder, 'open', { dryRun: true })).toMatchObject({ models: 1, checkpoints: 1 })
  expect((await storage.get(theirs)).length).toBe(10)
})
