import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { VersionId } from '../src/core/index.ts'
import { CrashedStoreError, openStore } from '../src/store/index.ts'
import { StoreThread } from '../src/store/sqlite-thread.ts'
import { openThreadedStore } from '../src/store/sqlite-threaded-store.ts'
import { alertConformance } from '../src/store/alerts.conformance.ts'
import { canaryConformance } from '../src/store/canaries.conformance.ts'
import { leaseConformance } from '../src/store/leases.conformance.ts'
import { servingConformance } from '../src/store/serving.conformance.ts'
import { sample, storeConformance } from '../src/store/store.conformance.ts'

const compiled = (file: string) => new URL(`../dist/store/${file}`, import.meta.url)

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-threads-'))
  path = join(folder, 'ratchet.db')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const open = () => openStore({ path, thread: 'worker' })
for (const conformance of [
  storeConformance,
  servingConformance,
  canaryConformance,
  leaseConformance,
  alertConformance,
]) {
  conformance('SQLite in worker threads', open)
}

describe('worker threads', () => {
  it('leave the event loop free, and look-ups before scans', async () => {
    const store = await openStore({ path, thread: 'worker' })
    for (let i = 0; i < 10; i++) {
      await store.trajectories.append(Array.from({ length: 500 }, (_, k) => sample.recorded(`t${i * 500 + k}`)))
    }
    const order: string[] = []
    let turns = 0
    const scan = store.trajectories.list({ limit: 5000 }).then((records) => {
      order.push('scan')
      return records.length
    })
    const lookUp = store.runs.get(sample.run('none').id).then(() => order.push('look-up'))
    const turn = () => {
      turns++
      if (order.length < 2) setImmediate(turn)
    }
    turn()
    await Promise.all([scan, lookUp])
    expect(await scan).toBe(5000)
    expect(order).toEqual(['look-up', 'scan'])
    // One thread would have answered the scan in the turn that asked for it.
    expect(turns).toBeGreaterThan(20)
    await store.close()
  })

  it('are replaced when they run out of memory: what they had not answered rejects, what they had is there', async () => {
    const start = (given: { path: string; readonly: boolean }) =>
      new StoreThread(
        given,
        new Worker(compiled('sqlite-thread-entry.js'), { resourceLimits: { maxOldGenerationSizeMb: 64 } }),
      )
    const store = await openThreadedStore({ path, readonly: false }, start)
    await store.versions.put(sample.version('before'))
    const huge = Array.from({ length: 200 }, (_, i) => sample.recorded(`t${i}`, null)).map((record) => ({
      ...record,
      reward: { ...record.reward, parts: partsOf(20_000) },
    }))
    const lost = store.trajectories.append(huge as Parameters<typeof store.trajectories.append>[0])
    const behind = store.versions.put(sample.version('behind'))
    for (const rejected of [lost, behind]) await expect(rejected).rejects.toThrow(CrashedStoreError)
    await store.versions.put(sample.version('after'))
    for (const text of ['before', 'after']) {
      expect(await store.versions.get(sample.version(text).id)).toEqual(sample.version(text))
    }
    expect(await store.trajectories.count({})).toBe(0)
    await store.close()
    await (await openStore({ path, thread: 'main' })).close()
  })
})

/** Runs a script on the compiled store to its end. */
function run(script: string): { readonly status: number | null; readonly stderr: string; readonly seconds: number } {
  const begun = performance.now()
  const open = `import { openStore } from ${JSON.stringify(compiled('index.js').href)}
    const store = await openStore({ path: ${JSON.stringify(path)}, thread: 'worker' })`
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', `${open}\n${script}`], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    encoding: 'utf8',
    timeout: 60_000,
  })
  return { status, stderr, seconds: (performance.now() - begun) / 1000 }
}

const versionOf = (text: string) => JSON.stringify(sample.version(text))

describe('a process with a store in worker threads', () => {
  it('ends by itself when it forgets to close, and after what it asked for is written', async () => {
    const { status, stderr } = run(`void store.versions.put(${versionOf('not awaited')})`)
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    const store = await openStore({ path })
    expect(await store.versions.get(VersionId.parse(sample.version('not awaited').id))).not.toBeNull()
    await store.close()
  })

  it('ends when it closed', () => {
    expect(run('await store.close()')).toMatchObject({ status: 0, stderr: '' })
  })

  it('ends as any other when it throws', async () => {
    const { status, stderr } = run(`await store.versions.put(${versionOf('a')}); throw new Error('my own')`)
    expect(status).toBe(1)
    expect(stderr).toContain('my own')
    const store = await openStore({ path })
    expect(await store.versions.get(sample.version('a').id)).not.toBeNull()
    await store.close()
  })
})

function partsOf(count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`part-${i}`, i]))
}
