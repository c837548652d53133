import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { servedTrainer } from '../../test/support/served-trainer.ts'
import { ask, datumBody, passBody, PatientClient, stepBody } from '../../test/support/trainer-client.ts'
import { type Door, eraseOwner } from './index.ts'

const door: Door = async (headers) => ({
  owner: headers.get('x-api-key') ?? '',
  bodyBytes: null,
  enter: () => () => {},
  leave() {},
})

it("removes what one key trained, its tokens and its weights, and leaves another's", async () => {
  const server = await servedTrainer({ door })
  const trainedBy = async (key: string, tokens: readonly number[]) => {
    const client = new PatientClient(server.url, key)
    const model = await client.model({ rank: 4, seed: tokens[0] ?? 0 }, 'tiny')
    await client.result('/forward_backward', passBody(model, 1, [datumBody([...tokens])]))
    await client.result('/optim_step', stepBody(model, 2))
    return client.result('/save_weights', { model_id: model, path: 'kept', seq_id: 3 })
  }
  await trainedBy('gone', [201, 202, 203, 204])
  const kept = await trainedBy('stays', [101, 102, 103, 104])
  const { folder } = server
  await expect(eraseOwner(folder, 'gone', { dryRun: true })).rejects.toMatchObject({ code: 'store/locked' })
  await server.close()

  const blobs = () =>
    readdirSync(join(folder, 'blobs'), { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  const before = blobs().length
  const planned = await eraseOwner(folder, 'gone', { dryRun: true })
  expect(planned).toMatchObject({ sessions: 1, models: 1, checkpoints: 1 })
  expect(planned.requests).toBeGreaterThanOrEqual(4)
  expect(readFileSync(join(folder, 'journal.jsonl'), 'utf8')).toContain('gone')
  expect(await eraseOwner(folder, 'gone', { dryRun: false })).toEqual(planned)
  const journal = readFileSync(join(folder, 'journal.jsonl'), 'utf8')
  expect(journal).not.toContain('gone')
  expect(journal).not.toContain('201,202,203')
  expect(blobs().length).toBeLessThan(before)
  expect(await eraseOwner(folder, 'gone', { dryRun: false })).toMatchObject({ sessions: 0, requests: 0 })

  const again = await servedTrainer({ door, folder })
  const info = await ask(again.url, '/weights_info', { tinker_path: kept.path }, 'stays')
  expect(info).toMatchObject({ status: 200, body: { lora_rank: 4 } })
  await again.close()
})

it('finds nothing in a folder without a trainer', async () => {
  expect(await eraseOwner('/nowhere', 'x', { dryRun: false })).toMatchObject({ models: 0, checkpoints: 0 })
})
