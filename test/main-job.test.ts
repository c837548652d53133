import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { repository } from './docs/scratch.ts'
import { Summary } from './tiny/summary.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-main-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('npm start passes its flags on: MiniMind2-Small learns from MDN, in small', () => {
  const config = join(folder, 'small.json')
  const schedule = {
    primePasses: 5,
    updates: 2,
    tasks: 6,
    attempts: 4,
    validateEvery: 2,
    validationTasks: 10,
    holdoutTasks: 30,
  }
  writeFileSync(config, JSON.stringify({ schedule }))
  const store = join(folder, 'store')
  const flags = ['--json', '--seed', '1', '--config', config, '--store', store]
  const { status, stdout, stderr } = spawnSync('npm', ['--silent', 'start', '--', ...flags], {
    cwd: repository,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
  expect(status, stderr).toBe(0)
  const lines = stdout.trim().split('\n')
  const told = lines.map((line) => JSON.parse(line) as { readonly type: string })
  expect(told[0]).toMatchObject({ type: 'started', agent: 'librarian', seed: 1 })
  expect(told.filter(({ type }) => type === 'updated')).toHaveLength(2)
  // Held-out wordings are measured beside; the tier that was trained judges.
  expect(told).toContainEqual(
    expect.objectContaining({ type: 'evaluated', arm: 'learned', split: 'holdout', tier: 'single-hop reworded' }),
  )
  const summary = Summary.parse(told.at(-1))
  expect(summary).toMatchObject({ control: null, base: { success: 0, n: 30 }, learned: { n: 30 } })
  const report = readFileSync(join(store, `report-${summary.runId}.html`), 'utf8')
  for (const baseline of ['Constant answer', 'Empty tools', 'First hit', 'Scripted expert'])
    expect(report).toContain(baseline)
})
