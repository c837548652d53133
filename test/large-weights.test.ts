import { open } from 'node:fs/promises'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { loadModel } from '../src/model/embedded/index.ts'
import { writeTinyJob } from './tiny/job.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-large-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const lengthBytes = 8

/** Moves the tensors of a file behind a head that is the embedding again, so large that they begin beyond 2 GiB; a hole. */
async function beyondTwoGiB(path: string): Promise<void> {
  const hole = 2 ** 31 + 4096
  const file = await open(path, 'r+')
  try {
    const bytes = await file.readFile()
    const end = lengthBytes + Number(bytes.readBigUInt64LE(0))
    const header = JSON.parse(bytes.toString('utf8', lengthBytes, end)) as Record<string, { data_offsets: number[] }>
    for (const entry of Object.values(header)) entry.data_offsets = entry.data_offsets.map((offset) => offset + hole)
    const head = { dtype: 'F32', shape: [hole / 4], data_offsets: [0, hole] }
    const json = Buffer.from(JSON.stringify({ 'lm_head.weight': head, ...header }))
    const length = Buffer.alloc(lengthBytes)
    length.writeBigUInt64LE(BigInt(json.length))
    await file.truncate(0)
    await file.write(Buffer.concat([length, json]), 0, undefined, 0)
    await file.write(bytes.subarray(end), 0, undefined, lengthBytes + json.length + hole)
  } finally {
    await file.close()
  }
}

it('a model loads from safetensors of more than 2 GiB as from small ones', async () => {
  const { model } = writeTinyJob(folder)
  const small = await loadModel(model)
  expect(small.weights.config.tiedHead).toBe(true)
  await beyondTwoGiB(join(model, 'model.safetensors'))
  const before = process.memoryUsage().rss
  const large = await loadModel(model)
  expect(large.weights).toEqual(small.weights)
  expect(large.hash).not.toBe(small.hash)
  expect(process.memoryUsage().rss - before).toBeLessThan(2 ** 30)
})
