import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const run = promisify(execFile)
let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-joint-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs the example, and gives its last lines and the text of its report. */
async function joint(...options: readonly string[]) {
  const { stdout } = await run(process.execPath, [resolve('examples/joint.mjs'), '--quick', ...options], {
    cwd: folder,
  })
  const page = readFileSync(join(folder, 'joint.html'), 'utf8').replaceAll(/<[^>]*>/g, ' ')
  return { lines: stdout.trim().split('\n'), report: page.replaceAll(/\s+/g, ' ') }
}

const parts = ['model (weights)', 'notes (memory)', 'manners (text)', 'carrier (choice)']
const told = (part: string) =>
  expect.stringMatching(
    new RegExp(
      `^ {2}${part.replaceAll(/[()]/g, '\\$&')} brought -?\\d\\.\\d\\d \\[.*\\]: (helps|hurts|no-loss|unclear)$`,
    ),
  )

describe('weights, a memory, a text and a choice learn in one run', { timeout: 600_000 }, () => {
  it('from practice; the report says which brought what', async () => {
    const { lines, report } = await joint()
    const [practised, ...brought] = lines.slice(-6, -1)
    expect(practised).toMatch(/^practice: 0\.0\d → (0\.[4-9]\d|1\.00) \(promote\)$/)
    expect(brought).toEqual(parts.map(told))
    // Nothing arrives without a label.
    expect(brought[0]).toMatch(/: helps$/)
    expect(report).toContain('What each part brought')
    expect(report).toMatch(/carrier choice [+−\d]/)
  })

  // Sessions and run have other chances each time.
  it('from recorded sessions, where only the source is another', { retry: 1 }, async () => {
    const { lines, report } = await joint('--traffic')
    const [learned, ...brought] = lines.slice(-6, -1)
    expect(learned).toBe('traffic: learned from 172 sessions (released)')
    expect(brought).toEqual(parts.map(told))
    expect(brought.filter((line) => line.endsWith(': helps')).length).toBeGreaterThanOrEqual(2)
    expect(report).toContain('What each part brought')
  })
})
