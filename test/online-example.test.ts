import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const run = promisify(execFile)

it('the proof of online learning runs in small: a first release, a cycle, and a bad candidate that goes back', async () => {
  const out = await mkdtemp(join(tmpdir(), 'online-'))
  try {
    await run(process.execPath, ['examples/online/main.mjs', '--quick', '--out', out], { maxBuffer: 1 << 26 })
    const { quick, evidence, seeds } = JSON.parse(await readFile(join(out, 'results.json'), 'utf8'))
    expect({ quick, evidence }).toEqual({ quick: true, evidence: 'truth' })
    const [{ releases, canaries, runs, forced, sessions }] = seeds
    expect(canaries[0].status, 'what people showed on the first day was released').toBe('promoted')
    expect(canaries[0].reason, 'by truth').toMatch(/^The candidate's truth is higher/)
    expect(releases.length).toBeGreaterThanOrEqual(1)
    expect(runs.length, 'a run learned from what people did').toBeGreaterThanOrEqual(1)
    expect(canaries.length, 'and what it made was tried').toBeGreaterThanOrEqual(2)
    expect(forced.status, 'a bad candidate went back by itself').toBe('rolled-back')
    expect(forced.exposed).toBeLessThan(forced.held)
    expect(sessions.some(({ right }: { right: boolean }) => right)).toBe(true)
    expect(await readFile(join(out, 'report.html'), 'utf8')).toContain('<svg')
  } finally {
    await rm(out, { recursive: true, force: true })
  }
})
