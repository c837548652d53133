import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isPaired } from '../src/core/index.ts'
import { replay } from '../src/gate/index.ts'
import { openStore } from '../src/store/index.ts'
import { kills } from './support/kills.ts'
import { type TinyFiles, writeTinyJob } from './tiny/job.ts'
import { Summary } from './tiny/summary.ts'
import { ratchet, startRatchet } from './tiny/ratchet.ts'

let folder: string
let files: TinyFiles
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-learn-kill-'))
  files = writeTinyJob(join(folder, 'job'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const summaryOf = (stdout: string): Summary => Summary.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''))

/** What a finished run left in its store, without the names and times that no two runs share. */
async function remains(store: string, { runId }: Pick<Summary, 'runId'>) {
  const opened = await openStore({ path: join(store, 'ratchet.db'), readonly: true })
  try {
    const runs = await opened.runs.list({ limit: 10 })
    expect(runs.map(({ id, status }) => ({ id, status }))).toEqual([{ id: runId, status: 'completed' }])
    const run = runs[0]!
    const receipt = (await opened.receipts.get(run.receipt!))!
    if (!isPaired(receipt)) throw new Error('a receipt of live sessions')
    expect(replay(receipt)).toBe(receipt.decision)
    const events = await opened.runs.events(run.id)
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, i) => i))
    const activations = await opened.releases.activations(run.agent)
    const checkpoint = await opened.runs.latestCheckpoint(run.id)
    return {
      uses: (await opened.ledger.uses(receipt.outcomes.map(({ task }) => task))).length,
      versions: run.versionsOut,
      adapters: checkpoint?.blobs,
      outcomes: receipt.outcomes,
      activations: activations.map(({ reason }) => reason),
      trajectories: await opened.trajectories.count({ run: run.id }),
      story: events
        .filter(({ type }) => !['started', 'agreed'].includes(type))
        .map(({ type, data: { update, pass, arm, split, rate } }) => ({ type, update, pass, arm, split, rate })),
    }
  } finally {
    await opened.close()
  }
}

/** Runs a command and kills it at a random moment: some time after it has told so many events. */
async function killedAtRandom(args: readonly string[]) {
  const { child, ended, said } = startRatchet(args)
  const events = Math.floor(Math.random() * 12)
  const told = new Promise<null>((resolve) => {
    const look = () => said.stdout.split('\n').length > events && resolve(null)
    child.stdout.on('data', look)
    look()
  })
  const fuse = new AbortController()
  const struck = told.then(() => delay(Math.random() * 300, null, { signal: fuse.signal })).catch(() => null)
  const outcome = await Promise.race([ended, struck])
  fuse.abort()
  if (outcome !== null) return outcome
  child.kill('SIGKILL')
  await ended
  return null
}

/**
 * Learns to the end under fire: processes are killed, at most so many, and each is followed by one that resumes. A
 * process that was killed before it had begun its run is started anew.
 */
async function learnUnderFire(store: string, flags: readonly string[], kills: number) {
  const start = ['learn', '--config', files.config, '--store', store, '--json', ...flags]
  const resume = ['learn', '--resume', '--store', store, '--json']
  let killed = 0
  for (;;) {
    const command = (await hasRun(store)) ? resume : start
    const ended = await (killed < kills ? killedAtRandom(command) : ratchet(command))
    if (ended === null) {
      killed++
      continue
    }
    expect(ended.stderr).toBe('')
    expect(ended.code).toBe(0)
    return { killed, summary: summaryOf(ended.stdout) }
  }
}

async function hasRun(store: string): Promise<boolean> {
  try {
    const opened = await openStore({ path: join(store, 'ratchet.db'), readonly: true })
    const runs = await opened.runs.list({ limit: 1 })
    await opened.close()
    return runs.length > 0
  } catch {
    // Killed while the store was being made.
    return false
  }
}

/** Everything of a summary that a run repeats. */
const figures = (summary: Summary) => ({
  ...summary,
  seconds: 0,
  runId: '',
  releaseId: summary.releaseId === null ? 'none' : 'one',
})

describe('kill -9 in a run of learning', () => {
  it('changes nothing of a deterministic run, wherever it strikes, again and again', async () => {
    const whole = join(folder, 'whole')
    const { stdout, stderr } = await ratchet([
      'learn',
      '--config',
      files.config,
      '--store',
      whole,
      '--json',
      '--deterministic',
    ])
    expect(stderr).toBe('')
    const expected = summaryOf(stdout)
    expect(expected.decision).toBe('promote')
    const expectedRemains = await remains(whole, expected)
    expect(expectedRemains).toMatchObject({ uses: 1, activations: ['initial', 'promote'] })

    let killed = 0
    for (let round = 0; killed < 0.4 * kills; round++) {
      const store = join(folder, `killed-${round}`)
      const fire = await learnUnderFire(store, ['--deterministic'], 4)
      killed += fire.killed
      expect(figures(fire.summary)).toEqual(figures(expected))
      expect(await remains(store, fire.summary)).toEqual(expectedRemains)
    }
  })

  it('leaves a run that completes, deterministic or not', async () => {
    const store = join(folder, 'free')
    const { summary } = await learnUnderFire(store, ['--control'], 3)
    expect(summary.learned.n).toBe(40)
    expect(await remains(store, summary)).toMatchObject({ uses: 1 })
  })
})
