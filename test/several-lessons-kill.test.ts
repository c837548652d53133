import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStore } from '../src/store/index.ts'
import { writeTinyJob } from './tiny/job.ts'

const program = fileURLToPath(new URL('several-lessons.process.mjs', import.meta.url))
const recordedTraffic = fileURLToPath(new URL('fixtures/traffic.db', import.meta.url))

let folder: string
let files: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-several-lessons-'))
  files = JSON.stringify(writeTinyJob(join(folder, 'job')))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What every process tells of itself: each looks anew whether what serves agrees with what trains. */
const ofEach = ['started', 'agreed', 'finished']

type Job = 'team' | 'traffic'

/** Runs the program; with `events`, until it has told so many, when it is killed. @returns whether it was. */
async function ran(job: Job, path: string, events: number | null): Promise<boolean> {
  const child = spawn(process.execPath, [program, job, path, files], { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
  const closed = once(child, 'close')
  let told = 0
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.includes('"type":"progress"')) continue
    if (++told === events) child.kill('SIGKILL')
  }
  const [code, signal] = await closed
  if (signal !== 'SIGKILL') expect({ code, said }).toEqual({ code: 0, said: '' })
  return signal === 'SIGKILL'
}

/** What a run left behind; blobs go by their content. */
async function remains(path: string) {
  const store = await openStore({ path, readonly: true })
  try {
    const [run, ...others] = await store.runs.list({ limit: 9 })
    expect(others).toEqual([])
    const events = await store.runs.events(run!.id)
    const checkpoint = await store.runs.latestCheckpoint(run!.id)
    return {
      status: run!.status,
      versions: run!.versionsOut,
      blobs: checkpoint?.blobs,
      story: events.flatMap(({ type, data }) => {
        // A receipt has its time in its name.
        const { seconds: _, tokensPerSecond: __, etaSeconds: ___, receipt: ____, ...told } = data
        return ofEach.includes(type) ? [] : [{ type, ...told }]
      }),
      alerts: (await store.alerts.list({ limit: 9 })).map(({ kind, name, evidence }) => ({ kind, name, evidence })),
    }
  } finally {
    await store.close()
  }
}

/** A store to learn in: of traffic, with what was recorded. */
function storeOf(job: Job, name: string): string {
  const path = join(folder, `${job}-${name}.db`)
  if (job === 'traffic') copyFileSync(recordedTraffic, path)
  return path
}

describe('kill -9 of a run on real engines', () => {
  it.each([
    ['two Parameters of weights, each on a model of its own', 'team', ['planner', 'reader']],
    ['a sequence of three lessons over traffic', 'traffic', ['model']],
  ] as const)('changes nothing for %s', async (_, job, learned) => {
    const whole = storeOf(job, 'whole')
    await ran(job, whole, null)
    const expected = await remains(whole)
    expect(expected.status).toBe('completed')
    expect(Object.keys(expected.versions ?? {}).toSorted()).toEqual(learned)

    const killed = storeOf(job, 'killed')
    // What was not committed is told again: each is killed a little later than the one before.
    let deaths = 0
    for (let events = 2; await ran(job, killed, events); events += 2) deaths += 1
    expect(deaths).toBeGreaterThan(1)
    expect(await remains(killed)).toEqual(expected)
  })
})
