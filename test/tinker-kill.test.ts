import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { asWeights, type BlobRef, sha256 } from '../src/core/index.ts'
import { openEmbeddedModel } from '../src/model/index.ts'
import { openStore } from '../src/store/index.ts'
import { startTrainer } from '../src/trainer/index.ts'
import { kills } from './support/kills.ts'
import { type Stage, stages, watchedServer } from './support/watched-server.ts'
import { type TinyFiles, writeTinyJob } from './tiny/job.ts'
import { ratchet, startRatchet } from './tiny/ratchet.ts'
import { Summary } from './tiny/summary.ts'

/*
 * A run of `ratchet learn` at a server of the Tinker protocol, whose own process is killed: the other half of
 * trainer-kill.test.ts. The server is the one of `ratchet trainer`, over an engine in its deterministic mode, so that two
 * runs come to the same bits; between it and the run stands who knows how far each request came.
 */
let folder: string
let files: TinyFiles
let trainer: string
let server: Awaited<ReturnType<typeof watchedServer>>
const ends: (() => Promise<unknown>)[] = []
const problems: unknown[] = []
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-tinker-kill-'))
  files = writeTinyJob(join(folder, 'job'), (config) => ({
    ...config,
    precision: 'auto',
    schedule: {
      ...config.schedule,
      primePasses: 2,
      updates: 2,
      tasks: 2,
      attempts: 3,
      validationTasks: 2,
      holdoutTasks: 2,
    },
  }))
  const { service } = await openEmbeddedModel({ reference: files.model, deterministic: true })
  ends.push(() => service.close())
  const told = (error: unknown) => void problems.push(error)
  const own = { folder: join(folder, 'trainer'), host: '127.0.0.1', port: 0, onFatal: told, onUnexpected: told }
  const started = await startTrainer({ service, ...own })
  ends.push(() => started.close())
  trainer = started.url
  server = await watchedServer(trainer)
  ends.push(() => server.close())
})
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
  rmSync(folder, { recursive: true, force: true })
})

/** A moment of a process: so far has the nth request of the run for this path come. */
interface Strike {
  readonly path: string
  readonly stage: Stage
  readonly nth: number
}

const upTo = (most: number): number => 1 + Math.floor(Math.random() * most)
const oneOf = <T>(some: readonly T[]): T => some[upTo(some.length) - 1] as T

/** Paths, and how many requests for each a process makes before it has come much further. */
const paths = [
  ['forward_backward', 6],
  ['optim_step', 6],
  ['save_weights', 3],
  ['save_weights_for_sampler', 2],
  ['create_model', 2],
  ['asample', 20],
] as const

const anywhere = (): Strike => {
  const [path, most] = oneOf(paths)
  return { path, stage: oneOf(stages), nth: upTo(most) }
}

/** Runs a command, and kills it at a moment. @returns null where it was killed. */
async function killedAt(args: readonly string[], { path, stage, nth }: Strike) {
  const { child, ended } = startRatchet(args)
  const seen = { requests: 0, struck: false }
  /** Before it trains, a process tries weights that it forgets: they take its first passes. */
  let tried: string | null = null
  server.watch((request, at) => {
    if (request.path === 'forward_backward') tried ??= request.model
    const isIt = request.path === path && at === stage && (request.model === null || request.model !== tried)
    seen.struck ||= isIt && ++seen.requests === nth
    if (seen.struck) child.kill('SIGKILL')
    return seen.struck
  })
  const outcome = await ended
  server.watch(() => false)
  return seen.struck ? null : outcome
}

/** The last line of a command that ended well. */
function summaryOf({ code, stdout, stderr }: Awaited<ReturnType<typeof ratchet>>) {
  expect(stderr).toBe('')
  expect(code).toBe(0)
  return Summary.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''))
}

const begin = (store: string) => ['learn', '--config', files.config, '--store', store, '--server', server.url, '--json']

/** The bytes of what a run has kept at its server. */
async function weightsAt(ref: BlobRef | null | undefined): Promise<string> {
  if (!ref || typeof ref === 'string') throw new Error('it is not at the server')
  const [model, kind, name] = ref.uri.replace('tinker://', '').split('/')
  const answer = await fetch(`${trainer}/api/v1/training_runs/${model}/checkpoints/${kind}/${name}/download`)
  expect(answer.status).toBe(200)
  return sha256(new Uint8Array(await answer.arrayBuffer()))
}

/** What a finished run left, without the names and times that no two runs share. */
async function remains(store: string) {
  const opened = await openStore({ path: join(store, 'ratchet.db'), readonly: true })
  try {
    const [run, ...more] = await opened.runs.list({ limit: 10 })
    expect(more).toEqual([])
    if (!run) throw new Error('there is no run')
    const kept = await opened.runs.latestCheckpoint(run.id)
    const version = await opened.versions.get(Object.values(run.versionsOut ?? {})[0]!)
    return {
      learned: await weightsAt(asWeights(version?.value)?.adapter),
      primed: await weightsAt(kept?.blobs['primed']),
      trajectories: await opened.trajectories.count({ run: run.id }),
      story: (await opened.runs.events(run.id))
        .filter(({ type }) => !['started', 'agreed'].includes(type))
        .map(({ type, data: { update, pass, arm, split } }) => ({ type, update, pass, arm, split })),
    }
  } finally {
    await opened.close()
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

/** A summary without what no two runs share. */
const figures = (summary: Summary) => ({ ...summary, runId: '', seconds: 0 })

it('takes every step once, wherever the process is killed that asks for it', async () => {
  const whole = join(folder, 'whole')
  const expected = summaryOf(await ratchet(begin(whole)))
  const expectedRemains = await remains(whole)
  // It practised what it had imitated.
  expect(expectedRemains.learned).not.toBe(expectedRemains.primed)

  const store = join(folder, 'killed')
  const next = async () => ((await hasRun(store)) ? ['learn', '--resume', '--store', store, '--json'] : begin(store))
  const strikes: readonly Strike[] = [
    { path: 'forward_backward', stage: 'waited', nth: upTo(6) },
    { path: 'optim_step', stage: oneOf(['taken', 'waited', 'done']), nth: upTo(6) },
    { path: 'save_weights', stage: oneOf(['taken', 'waited', 'done']), nth: 1 + upTo(2) },
    ...Array.from({ length: Math.round(kills / 12) }, anywhere),
  ]
  let found: Summary | null = null
  const missed: Strike[] = []
  for (const strike of strikes) {
    const ended = await killedAt(await next(), strike)
    if (ended === null) continue
    missed.push(strike)
    found = summaryOf(ended)
  }
  found ??= summaryOf(await ratchet(await next()))
  expect(strikes.length - missed.length).toBeGreaterThanOrEqual(3)
  // A pass or a step that was lost or taken twice would change every bit after it.
  expect(await remains(store), JSON.stringify(strikes)).toEqual(expectedRemains)
  expect(figures(found)).toEqual(figures(expected))
  expect(problems).toEqual([])
})
