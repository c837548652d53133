import type { KeyRepository } from '../../core/index.ts'
import type { LastCommit } from './telemetry.ts'

/** One thing that has to be well. */
export interface Check {
  readonly name: string
  /** Rejects when it is not. */
  readonly run: () => Promise<unknown>
}

/** Whether the gateway should be sent requests, and if not, which checks say so. */
export interface Readiness {
  readonly ready: boolean
  readonly checks: Readonly<Record<string, 'ok' | 'failed' | 'slow'>>
}

/** A check that takes longer has failed: who asks will not wait. */
const patienceMs = 2_000
/** How long an answer stands: whoever asks more often is answered from memory. */
const standsMs = 1_000
/**
 * How long a failed commit counts. Not for ever: without requests there is no next commit, and a gateway that is never
 * asked again never shows that its disk has room again.
 */
const failureMs = 10_000

/** The store can be read, and took the latest call. */
export function storeChecks(keys: Pick<KeyRepository, 'list'>, lastCommit: () => LastCommit | null): readonly Check[] {
  return [
    { name: 'store', run: () => keys.list({ sessions: false, limit: 1 }) },
    {
      name: 'commits',
      run: async () => {
        const last = lastCommit()
        if (last && !last.ok && last.ageMs < failureMs) throw new Error('the latest call could not be committed')
      },
    },
  ]
}

/** Runs the checks, at most once a second however often it is asked. */
export function readiness(checks: readonly Check[], perf: { now(): number } = performance): () => Promise<Readiness> {
  let latest: { readonly at: number; readonly result: Promise<Readiness> } | null = null
  return () => {
    if (latest === null || perf.now() - latest.at > standsMs) latest = { at: perf.now(), result: runAll(checks) }
    return latest.result
  }
}

async function runAll(checks: readonly Check[]): Promise<Readiness> {
  const results = await Promise.all(checks.map(async ({ name, run }) => [name, await outcomeOf(run)] as const))
  return { ready: results.every(([, outcome]) => outcome === 'ok'), checks: Object.fromEntries(results) }
}

async function outcomeOf(run: () => Promise<unknown>): Promise<'ok' | 'failed' | 'slow'> {
  let timer: NodeJS.Timeout | undefined
  const slow = new Promise<'slow'>((resolve) => {
    timer = setTimeout(() => resolve('slow'), patienceMs)
    timer.unref()
  })
  try {
    return await Promise.race([run().then(() => 'ok' as const), slow])
  } catch {
    return 'failed'
  } finally {
    clearTimeout(timer)
  }
}
