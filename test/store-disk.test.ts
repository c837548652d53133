import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'

/** Runs a command where it may mount disks that nobody else sees and that are gone when it ends. */
function inOwnMounts(command: readonly string[]) {
  const flags = process.getuid?.() === 0 ? ['--mount'] : ['--mount', '--map-root-user']
  return spawnSync('unshare', [...flags, ...command], { encoding: 'utf8', timeout: 120_000 })
}

const mountable = inOwnMounts(['mount', '-t', 'tmpfs', 'tmpfs', tmpdir()]).status === 0

const Report = z.strictObject({
  filled: z.strictObject({
    acknowledged: z.number(),
    failures: z.record(z.string(), z.number()),
    transaction: z.string(),
    blob: z.string(),
    backup: z.string(),
    otherStore: z.string(),
    readsMeanwhile: z.boolean(),
    afterwards: z.string(),
    lost: z.number(),
  }),
  killed: z.strictObject({ acknowledged: z.number(), lost: z.number() }),
  readOnly: z.strictObject({ write: z.string(), read: z.string(), inBackup: z.number() }),
})

let disk: string
beforeEach(() => {
  disk = mkdtempSync(join(tmpdir(), 'ratchet-disk-'))
})
afterEach(() => rmSync(disk, { recursive: true, force: true }))

// Where disks cannot be mounted (macOS, some containers) the fast suite's limit on pages stands for a full disk.
describe.skipIf(!mountable).each(['main', 'worker'])('a real disk under a store whose SQLite is in %s', (thread) => {
  it('may be full: writes are refused, reads go on, and nothing acknowledged is lost; read-only: it is said so', () => {
    const script = fileURLToPath(new URL('store-disk.writer.mjs', import.meta.url))
    const { stdout, stderr } = inOwnMounts([process.execPath, script, disk, thread])
    expect(stderr).toBe('')
    const { filled, killed, readOnly } = Report.parse(JSON.parse(stdout))

    expect(filled.acknowledged).toBeGreaterThan(50)
    expect(Object.keys(filled.failures)).toEqual(['store/disk-full'])
    expect(filled).toMatchObject({
      transaction: 'store/disk-full',
      blob: 'store/disk-full',
      backup: 'store/disk-full',
      otherStore: 'store/disk-full',
      readsMeanwhile: true,
      afterwards: 'ok',
      lost: 0,
    })
    expect(killed.acknowledged).toBeGreaterThan(20)
    expect(killed.lost).toBe(0)
    expect(readOnly).toEqual({ write: 'store/read-only', read: 'store/read-only-folder', inBackup: 1 })
  })
})
