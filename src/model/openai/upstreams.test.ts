import { getEventListeners, setMaxListeners } from 'node:events'
import { expect, it } from 'vitest'
import { type FaultKind, startUpstream } from '../../../test/support/upstream-server.mjs'
import { callOf, textOf, until } from '../../../test/support/upstream/ask.ts'
import { rng } from '../../core/index.ts'
import { bounded } from './bounded.ts'
import { fallback } from './fallback.ts'
import { openAiUpstream } from './open-ai-upstream.ts'
import { renaming } from './renaming.ts'
import { retrying } from './retrying.ts'
import { isUpstreamFailure } from '../http/upstream-error.ts'

const faults: readonly FaultKind[] = [
  'reset',
  'hang',
  'hang-midway',
  'rate-limit',
  'server-error',
  'refused',
  'not-found',
  'cut',
  'cut-clean',
  'broken-json',
  'wrong-type',
  'error-first',
  'error-midway',
  'no-done',
  'no-choices',
  'empty',
]

it('all wrappers together, under every fault: each call ends, in the whole answer or in a failure, and leaves nothing behind', async () => {
  const random = rng('upstreams')
  const servers = [await startUpstream({ tellsTokens: true }), await startUpstream({ strict: true })]
  const upstream = fallback(
    servers.map(({ url }, i) => {
      const one = openAiUpstream({ name: `server-${i}`, url, firstByteTimeoutMs: 400, idleTimeoutMs: 400 })
      const patient = retrying(bounded(one, { concurrency: 8, queue: 200 }), { retries: 1, baseDelayMs: 1 })
      return renaming(patient, { alias: 'scripted' })
    }),
  )
  const outcomes = { answered: 0, failed: 0 }
  const signals: AbortSignal[] = []
  const one = async (): Promise<void> => {
    const controller = new AbortController()
    signals.push(controller.signal)
    for (const server of servers) {
      const fault = faults[random.int(faults.length * 2)]
      if (fault) server.fail(fault)
    }
    if (random.int(8) === 0) setTimeout(() => controller.abort(), random.int(50))
    const call = callOf({ model: 'alias', stream: random.int(2) === 0 }, { signal: controller.signal })
    try {
      expect(await textOf(upstream, call)).toBe('You said: hello there')
      outcomes.answered++
    } catch (error) {
      if (!isUpstreamFailure(error)) throw error
      outcomes.failed++
    }
  }
  await Promise.all(Array.from({ length: 150 }, one))
  expect(outcomes.answered).toBeGreaterThan(10)
  expect(outcomes.failed).toBeGreaterThan(10)
  await until(() => signals.every((signal) => getEventListeners(signal, 'abort').length === 0))

  // Every place is free again: as many hanging streams as there are places are all taken in.
  for (const server of servers) server.set({ chunkDelayMs: 50 })
  const gone = new AbortController()
  setMaxListeners(0, gone.signal)
  const before = servers[0]?.requests.length ?? 0
  const hanging = Array.from({ length: 8 }, () => textOf(upstream, callOf({ stream: true }, { signal: gone.signal })))
  await until(() => (servers[0]?.requests.length ?? 0) >= before + 8)
  gone.abort()
  for (const result of await Promise.allSettled(hanging)) expect(result.status).toBe('rejected')
  await upstream.close()
  for (const server of servers) await server.close()
})
