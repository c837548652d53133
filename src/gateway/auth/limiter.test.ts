import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KeyId, type KeyLimits } from '../../core/index.ts'
import { GatewayError } from '../errors.ts'
import { Limiter } from './limiter.ts'

const none: KeyLimits = { requestsPerMinute: null, concurrency: null, bodyBytes: null }
const caller = (key: string, limits: Partial<KeyLimits> = {}) => ({
  key: KeyId.parse(key),
  limits: { ...none, ...limits },
})

function limiterAt(defaults: { requestsPerMinute: number; concurrency: number }) {
  const time = { now: 1_000 }
  return { time, limiter: new Limiter(defaults, { now: () => time.now }) }
}

const refusalOf = (work: () => unknown): GatewayError | null => {
  try {
    work()
    return null
  } catch (error) {
    return error as GatewayError
  }
}

it('gives the requests of a minute, and more as the minute passes', () => {
  const { limiter, time } = limiterAt({ requestsPerMinute: 60, concurrency: 1_000 })
  for (let i = 0; i < 60; i += 1) limiter.admit(caller('a'))()
  const refused = refusalOf(() => limiter.admit(caller('a')))
  expect(refused).toBeInstanceOf(GatewayError)
  expect(refused).toMatchObject({
    status: 429,
    type: 'rate_limit_error',
    code: 'gateway/rate-limit',
    retryAfterSeconds: 1,
  })
  limiter.admit(caller('b'))()
  time.now += 1_000
  limiter.admit(caller('a'))()
  expect(refusalOf(() => limiter.admit(caller('a')))?.code).toBe('gateway/rate-limit')
  time.now += 3_600_000
  for (let i = 0; i < 60; i += 1) limiter.admit(caller('a'))()
  expect(refusalOf(() => limiter.admit(caller('a')))?.code).toBe('gateway/rate-limit')
})

it('says when there will be room', () => {
  const { limiter, time } = limiterAt({ requestsPerMinute: 2, concurrency: 10 })
  limiter.admit(caller('a'))
  limiter.admit(caller('a'))
  const seconds = refusalOf(() => limiter.admit(caller('a')))?.retryAfterSeconds ?? 0
  expect(seconds).toBe(30)
  time.now += seconds * 1_000
  limiter.admit(caller('a'))
})

it('holds a key to its places, and a place given up twice is one place', () => {
  const { limiter } = limiterAt({ requestsPerMinute: 1_000, concurrency: 2 })
  const leave = limiter.admit(caller('a'))
  limiter.admit(caller('a'))
  expect(refusalOf(() => limiter.admit(caller('a')))).toMatchObject({ code: 'gateway/concurrency-limit', status: 429 })
  leave()
  leave()
  limiter.admit(caller('a'))
  expect(refusalOf(() => limiter.admit(caller('a')))?.code).toBe('gateway/concurrency-limit')
})

it('the limits of a key come before those of the gateway', () => {
  const { limiter } = limiterAt({ requestsPerMinute: 1, concurrency: 1 })
  const own = caller('a', { requestsPerMinute: 3, concurrency: 3 })
  for (let i = 0; i < 3; i += 1) limiter.admit(own)
  expect(refusalOf(() => limiter.admit(own))?.code).toBe('gateway/concurrency-limit')
})

it('all sessions of a key together have what the key has', () => {
  const { limiter } = limiterAt({ requestsPerMinute: 4, concurrency: 100 })
  const parent = caller('parent')
  const session = (name: string) => ({ ...caller(name), parent: { key: parent.key, limits: parent.limits } })
  for (let i = 0; i < 4; i += 1) limiter.admit(session(`s${i}`))()
  expect(refusalOf(() => limiter.admit(session('s9')))?.code).toBe('gateway/rate-limit')
  expect(refusalOf(() => limiter.admit(parent))?.code).toBe('gateway/rate-limit')
  limiter.admit(caller('other'))()
})

it('who is refused by one limit has spent nothing of another', () => {
  const { limiter } = limiterAt({ requestsPerMinute: 10, concurrency: 100 })
  const parent = caller('parent', { requestsPerMinute: 10 })
  const session = { ...caller('s', { requestsPerMinute: 1 }), parent: { key: parent.key, limits: parent.limits } }
  limiter.admit(session)()
  for (let i = 0; i < 50; i += 1) expect(refusalOf(() => limiter.admit(session))).not.toBeNull()
  for (let i = 0; i < 9; i += 1) limiter.admit(parent)()
  expect(refusalOf(() => limiter.admit(parent))).not.toBeNull()
})

it('in any minute nobody gets more than two minutes of requests, whatever they do', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(5_000), { minLength: 1, maxLength: 200 }), (pauses) => {
      const { limiter, time } = limiterAt({ requestsPerMinute: 10, concurrency: 1 })
      const admitted: number[] = []
      for (const pause of pauses) {
        time.now += pause
        if (refusalOf(() => limiter.admit(caller('a'))()) === null) admitted.push(time.now)
      }
      for (const start of admitted) {
        expect(admitted.filter((at) => at >= start && at < start + 60_000).length).toBeLessThanOrEqual(20)
      }
    }),
  )
})

it('remembers so many keys, and forgets those that asked longest ago', () => {
  const limiter = new Limiter({ requestsPerMinute: 1, concurrency: 10 }, { now: () => 1 }, 10)
  limiter.admit(caller('first'))()
  for (let i = 0; i < 9; i += 1) limiter.admit(caller(`key-${i}`))()
  expect(refusalOf(() => limiter.admit(caller('first')))).not.toBeNull()
  for (let i = 0; i < 1_000; i += 1) limiter.admit(caller(`other-${i}`))()
  limiter.admit(caller('first'))()
})

describe('requests whose bodies are still to come', () => {
  const maker = caller('maker')
  const session = { ...caller('s', { concurrency: 3 }), parent: { key: maker.key, limits: maker.limits } }

  it('take up room of their own key alone', () => {
    const { limiter } = limiterAt({ requestsPerMinute: 1_000, concurrency: 4 })
    const arrived = Array.from({ length: 3 }, () => limiter.arrive(session))
    expect(refusalOf(() => limiter.arrive(session))?.code).toBe('gateway/concurrency-limit')
    const others = Array.from({ length: 4 }, () => limiter.admit(maker))
    // Its body has come, and there is no place: it may come back.
    expect(refusalOf(() => arrived[0]?.enter())?.code).toBe('gateway/concurrency-limit')
    others[0]?.()
    arrived[0]?.enter()
    arrived[1]?.leave()
    arrived[1]?.leave()
    expect(refusalOf(() => limiter.admit(maker))?.code).toBe('gateway/concurrency-limit')
  })

  it('count for the minute when they begin', () => {
    const { limiter } = limiterAt({ requestsPerMinute: 2, concurrency: 4 })
    limiter.arrive(session).leave()
    limiter.arrive(session).leave()
    expect(refusalOf(() => limiter.arrive(session))?.code).toBe('gateway/rate-limit')
  })
})

it('what takes no place is counted for the minute only', () => {
  const { limiter } = limiterAt({ requestsPerMinute: 4, concurrency: 1 })
  limiter.admit(caller('a'))
  limiter.arrive(caller('a'), 'no place').enter()()
  limiter.arrive(caller('a'), 'no place').enter()
  expect(refusalOf(() => limiter.admit(caller('a')))?.message).toMatch(/1 /)
  limiter.arrive(caller('a'), 'no place').leave()
  expect(refusalOf(() => limiter.arrive(caller('a'), 'no place'))?.code).toBe('gateway/rate-limit')
})
