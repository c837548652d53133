import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TrajectoryId } from '../src/core/index.ts'
import { outcome, rubric } from '../src/reward/index.ts'
import { openStore } from '../src/store/index.ts'
import { missing, trajectoryOf } from './support/trajectories.ts'
import { ratchet } from './tiny/ratchet.ts'

let folder: string
let store: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-signals-'))
  store = join(folder, 'store')
  const opened = await openStore({ path: join(store, 'ratchet.db') })
  try {
    await opened.trajectories.append([{ trajectory: trajectoryOf({ id: 'fix' }), reward: missing, run: null }])
  } finally {
    await opened.close()
  }
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const review = (trajectory: string, rest: object = {}) =>
  JSON.stringify({ trajectory, pullRequest: 'org/app#1', outcome: 'accepted', at: '2026-02-01T00:00:00Z', ...rest })

async function imported(...lines: readonly string[]) {
  const file = join(folder, 'reviews.jsonl')
  writeFileSync(file, lines.map((line) => `${line}\n`).join(''))
  return ratchet(['signals', 'import', file, '--json', '--store', store])
}

async function signalsOf(id: string) {
  const opened = await openStore({ path: join(store, 'ratchet.db'), readonly: true })
  try {
    return await opened.signals.of(TrajectoryId.parse(id))
  } finally {
    await opened.close()
  }
}

describe('reviews that come later', () => {
  it('one bad line, and nothing is recorded; each is named', async () => {
    const { code, stderr } = await imported(review('fix'), 'no JSON', review('fix', { outcome: 'perhaps' }))
    expect(code).toBe(1)
    expect(stderr).toContain('[input/bad-record]')
    expect(stderr).toMatch(/Line 2.*\n.*Line 3: outcome/)
    expect(await signalsOf('fix')).toEqual([])
  })

  it('are recorded once, and a rubric reads them as of a moment', async () => {
    const first = await imported(review('fix'), review('fix'), review('elsewhere'))
    expect(JSON.parse(first.stdout)).toEqual({ imported: 2, known: 1, waiting: 1 })
    const again = await imported(review('fix'), review('fix', { reviewer: 'bob', outcome: 'rejected' }))
    expect(JSON.parse(again.stdout)).toEqual({ imported: 1, known: 1, waiting: 0 })

    const merged = rubric({ merged: outcome('merged') }, { floor: -1 })
    const signals = await signalsOf('fix')
    const at = Date.UTC(2026, 1, 1)
    expect((await merged.score(trajectoryOf({ id: 'fix' }), signals, at - 1)).value).toBeNull()
    const [own] = signals.filter(({ reporter }) => reporter === 'reviews')
    expect((await merged.score(trajectoryOf({ id: 'fix' }), own ? [own] : [], at)).value).toBe(1)
    // Two voices of one import are one after the other's mean.
    expect((await merged.score(trajectoryOf({ id: 'fix' }), signals, at)).value).toBe(0)
  })
})
