import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Canary, Release } from '../core/index.ts'
import { agent, base, model, prompt } from '../../test/support/canary-parts.ts'
import type { ServingAgent, Versions } from './assignment.ts'
import { Readiness } from './readiness.ts'

const served = versionsOf('served')
const old = versionsOf('old')
const told: string[] = []
let outcome: () => Promise<void>
let readiness: Readiness

beforeEach(() => {
  vi.useFakeTimers()
  told.length = 0
  outcome = () => new Promise(() => {})
  readiness = new Readiness({
    prepare: (_, versions) => (versions === served ? Promise.resolve() : outcome()),
    onReady: () => void told.push('ready'),
    onProblem: () => void told.push('problem'),
    patienceMs: 500,
    retryMs: 5000,
  })
})
afterEach(() => {
  readiness.close()
  vi.useRealTimers()
})

function versionsOf(text: string): Versions {
  return new Map([model, text === 'served' ? base : prompt(text)].map((version) => [version.parameter, version]))
}
const serving = (versions: Versions, tried: Versions | null = null): ServingAgent => ({
  agent,
  release: {} as Release,
  generation: 1,
  versions,
  canary: tried && { canary: { id: 'c' } as Canary, versions: tried, generation: 2 },
})
/** What serves of what is to, after `before`. */
const inForce = (next: ServingAgent, before = serving(served)) =>
  readiness.of(new Map([[agent, next]]), new Map([[agent, before]])).get(agent)

it('waits no longer for what everybody is to get because a canary asked for it first', async () => {
  expect(inForce(serving(served, old))?.canary).toBeNull()
  await vi.advanceTimersByTimeAsync(10_000)
  expect(inForce(serving(served, old))?.canary, 'the canary waits for as long as it takes').toBeNull()
  expect(inForce(serving(old))?.versions).toBe(served)
  await vi.advanceTimersByTimeAsync(499)
  expect(inForce(serving(old))?.versions).toBe(served)
  await vi.advanceTimersByTimeAsync(1)
  expect(inForce(serving(old))?.versions).toBe(old)
})

it('lets everybody get what could not be made ready, also where a canary asked for it first', async () => {
  let fail = () => {}
  outcome = () => new Promise((_, reject) => (fail = () => reject(new Error('no room'))))
  inForce(serving(served, old))
  await vi.advanceTimersByTimeAsync(0)
  inForce(serving(old))
  told.length = 0
  fail()
  await vi.advanceTimersByTimeAsync(0)
  expect(told).toEqual(['problem', 'ready'])
  expect(inForce(serving(old))?.versions).toBe(old)
})
