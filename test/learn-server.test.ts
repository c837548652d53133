import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTrainerProcess, type TrainerProcess } from './support/trainer-process.ts'
import { type TinyConfig, type TinyFiles, writeTinyJob } from './tiny/job.ts'
import { ratchet } from './tiny/ratchet.ts'
import { Summary } from './tiny/summary.ts'

/** `ratchet learn` on a model at a Tinker server: the same command, and one flag. The server is `ratchet trainer`. */
describe('ratchet learn --server', { timeout: 300_000 }, () => {
  let folder: string
  let files: TinyFiles
  let server: TrainerProcess
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ratchet-learn-server-'))
    files = writeTinyJob(join(folder, 'job'), ({ precision: _, ...config }) => ({
      ...config,
      // At alpha 32 over the rank imitation is faster.
      schedule: { ...config.schedule, primePasses: 5 },
    }))
    server = await startTrainerProcess(join(folder, 'trainer'), 0, files.model)
  }, 60_000)
  afterAll(async () => {
    await server?.kill()
    rmSync(folder, { recursive: true, force: true })
  })

  const learn = (...flags: readonly string[]) =>
    ratchet(['learn', '--config', files.config, '--store', join(folder, 'store'), ...flags])

  it('learns there, and releases what is better', async () => {
    const { code, stdout, stderr } = await learn('--server', server.url, '--json')
    expect(stderr).toBe('')
    expect(code).toBe(0)
    const told = stdout.trim().split('\n')
    expect(JSON.parse(told[0] ?? '')).toMatchObject({ type: 'started', chosen: { temperature: 1 } })
    const summary = Summary.parse(JSON.parse(told.at(-1) ?? ''))
    expect(summary).toMatchObject({ precision: null, decision: 'promote' })
    expect(summary.learned.success).toBeGreaterThan(summary.primed.success)
  })

  it('is gone on with there alone', async () => {
    const { code, stderr } = await learn('--resume', '--server', 'http://127.0.0.1:9')
    expect(stderr).toContain('did not begin with this --server')
    expect(code).toBe(1)
  })

  it.each([['--precision', 'int8'], ['--device', 'cuda'], ['--deterministic']])(
    'refuses %s, which is for the embedded engine',
    async (...flags) => {
      const { code, stderr } = await learn('--server', server.url, ...flags)
      expect(stderr).toContain('[input/embedded-only]')
      expect(code).toBe(1)
    },
  )

  it('refuses in its configuration what a server cannot do', async () => {
    const path = join(folder, 'averaged.json')
    const config = JSON.parse(readFileSync(files.config, 'utf8')) as TinyConfig
    const schedule = { ...config.schedule, averaging: 0.5 }
    writeFileSync(path, JSON.stringify({ ...config, schedule, server: { url: server.url } }))
    const { code, stderr } = await ratchet(['learn', '--config', path, '--store', join(folder, 'other')])
    expect(stderr).toContain('[learn/trainer-lacks]')
    expect(code).toBe(1)
  })

  it('says where no server is, and what is no address', async () => {
    expect((await learn('--server', 'localhost')).stderr).toContain('[input/')
    expect((await learn('--server', 'http://127.0.0.1:9')).stderr).toMatch(/\[model\/tinker-[a-z-]+\]/)
  })
})
