import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { servedTrainer } from '../../test/support/served-trainer.ts'
import { ask, datumBody, passBody, PatientClient, stepBody } from '../../test/support/trainer-client.ts'
import { fileBlobs, openStore } from '../store/index.ts'
import { eraseOwner } from './index.ts'

/* What stays on the disk: weights and training states that something names, and no others. */

const open: Awaited<ReturnType<typeof servedTrainer>>[] = []
const serve = async (...options: Parameters<typeof servedTrainer>) => {
  const server = await servedTrainer(...options)
  open.push(server)
  return server
}
afterEach(async () => {
  for (const server of open.splice(0)) await server.close()
})

const blobsOf = (folder: string) =>
  readdirSync(join(folder, 'blobs'), { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map(({ name }) => name)
    .toSorted()
const trained = async (client: PatientClient, seed: number) => {
  const model = await client.model({ rank: 4, seed }, 'tiny')
  await client.result('/forward_backward', passBody(model, 1, [datumBody([1, 2, 3, 4, seed])]))
  await client.result('/optim_step', stepBody(model, 2))
  return model
}

it('a model that is unloaded leaves no training state, and a name that is used again no checkpoint', async () => {
  const { url, folder } = await serve({ snapshotMs: 0 })
  const client = new PatientClient(url)
  const model = await trained(client, 5)
  const save = (seq_id: number) => client.result('/save_weights', { model_id: model, seq_id, path: 'kept' })
  const { path } = await save(3)
  // The state after the step is the snapshot, too.
  await expect.poll(() => blobsOf(folder)).toHaveLength(2)
  await client.result('/forward_backward', passBody(model, 4, [datumBody([5, 4, 3])]))
  await client.result('/optim_step', stepBody(model, 5))
  await save(6)
  await expect.poll(() => blobsOf(folder)).toHaveLength(2)
  const { session_id } = await client.send('/create_session', {})
  const load = { session_id, model_seq_id: 0, path, optimizer: false }
  const { model_id } = await client.result('/load_weights', load)
  await expect.poll(() => blobsOf(folder)).toHaveLength(3)
  await client.result('/unload_model', { model_id })
  await expect.poll(() => blobsOf(folder)).toHaveLength(2)
  await client.result('/unload_model', { model_id: model })
  const saved = `${model}/checkpoints/weights/kept`
  await fetch(`${url}/api/v1/models/${saved}`, { method: 'DELETE' })
  await expect.poll(() => blobsOf(folder)).toEqual([])
})

it('a start sweeps away what no event names, in its own folder, and nothing else', async () => {
  const { url, folder } = await serve()
  const client = new PatientClient(url)
  const model = await trained(client, 6)
  const { path } = await client.result('/save_weights', { model_id: model, seq_id: 3, path: 'kept' })
  await open.pop()?.close()
  const named = blobsOf(folder)
  const storage = fileBlobs(join(folder, 'blobs'))
  const left = await storage.put(Buffer.from('what a crash left'))
  mkdirSync(join(folder, 'blobs', 'incoming'), { recursive: true })
  writeFileSync(join(folder, 'blobs', 'incoming', 'half'), 'half')
  writeFileSync(join(folder, 'blobs', 'README'), 'mine')
  writeFileSync(join(folder, 'blobs', left.slice(0, 2), 'notes'), 'mine')
  await serve({ folder })
  expect(new Set(blobsOf(folder))).toEqual(new Set([...named, 'README', 'notes']))
  await open.pop()?.close()

  const store = await openStore({ path: join(folder, 'any-name') })
  const theirs = await store.blobs.put(Buffer.from('weights of the store'))
  await store.close()
  const again = await serve({ folder })
  expect(blobsOf(folder)).toContain(theirs)
  expect(await ask(again.url, '/weights_info', { tinker_path: path })).toMatchObject({ status: 200 })
})

it.each(['missing', 'empty'])('a folder whose journal is %s keeps its weights, until others are named', async (how) => {
  const { url, folder } = await serve()
  const client = new PatientClient(url)
  await client.result('/save_weights', { model_id: await trained(client, 7), seq_id: 3, path: 'kept' })
  await open.pop()?.close()
  const before = blobsOf(folder)
  if (how === 'empty') writeFileSync(join(folder, 'journal.jsonl'), '')
  else rmSync(join(folder, 'journal.jsonl'))
  for (let start = 0; start < 2; start++) {
    const { url } = await serve({ folder })
    await new PatientClient(url).send('/create_session', {})
    await open.pop()?.close()
  }
  expect(blobsOf(folder)).toEqual(before)
})

it('erasing removes weights that an earlier server left behind, and nothing for a key that has nothing', async () => {
  const { folder, url } = await serve()
  await new PatientClient(url).send('/create_session', {})
  await open.pop()?.close()
  const left = await fileBlobs(join(folder, 'blobs')).put(Buffer.from('of a key that is gone'))
  const path = join(folder, 'blobs', left.slice(0, 2), left)
  await eraseOwner(folder, 'open', { dryRun: true })
  await eraseOwner(folder, 'mistyped', { dryRun: false })
  expect(existsSync(path)).toBe(true)
  await eraseOwner(folder, 'open', { dryRun: false })
  expect(existsSync(path)).toBe(false)
})

it('a session that ends while its requests wait ends nothing else', async () => {
  const { url, folder, problems } = await serve({ snapshotMs: 0 })
  for (const seed of [8, 9]) {
    const client = new PatientClient(url)
    const model = await trained(client, seed)
    const saving = { model_id: model, seq_id: 3, sampling_session_seq_id: 0 }
    const { sampling_session_id } = await client.result('/save_weights_for_sampler', saving)
    const prompt = { chunks: [{ type: 'encoded_text', tokens: [1, 2] }] }
    const sample = { sampling_session_id, prompt, sampling_params: { max_tokens: 200 } }
    await Promise.all([
      client.send('/asample', sample),
      client.send('/save_weights_for_sampler', { ...saving, seq_id: 4, sampling_session_seq_id: 1 }),
      fetch(`${url}/api/v1/sessions/${model.split(':')[0]}/finish`, { method: 'POST' }),
    ]).catch(() => {})
  }
  await new PatientClient(url).model({ rank: 4, seed: 1 }, 'tiny')
  expect(problems).toEqual([])
  await open.pop()?.close()
  // Before a start, which sweeps.
  expect(blobsOf(folder)).toEqual([])
})

it('a checkpoint leaves a gradient out that waits for its step, also after a start', async () => {
  const { url, folder } = await serve()
  const client = new PatientClient(url)
  const model = await trained(client, 10)
  const save = (seq_id: number, path: string) => client.result('/save_weights', { model_id: model, seq_id, path })
  await save(3, 'before')
  const named = blobsOf(folder)
  await client.result('/forward_backward', passBody(model, 4, [datumBody([9, 8, 7])]))
  expect(await save(5, 'pending')).toMatchObject({ path: `tinker://${model}/weights/pending` })
  // The same bytes.
  expect(blobsOf(folder)).toEqual(named)
  await open.pop()?.close()
  const again = new PatientClient((await serve({ folder })).url)
  const { metrics } = await again.result('/optim_step', stepBody(model, 6))
  expect((metrics as { grad_norm: number }).grad_norm).toBeGreaterThan(0)
})
