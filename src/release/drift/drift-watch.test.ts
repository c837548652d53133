import { describe, expect, it } from 'vitest'
import { rng } from '../../core/index.ts'
import {
  anotherRelease,
  DriftConfig,
  DriftWatchState,
  type DriftAlert,
  NEW_WATCH,
  type WatchedSession,
  watchSession,
} from './drift-watch.ts'

const config = DriftConfig.parse({})
const START = Date.UTC(2026, 0, 1)
const MINUTE = 60_000
const billing = ['refund the invoice', 'change the address on invoice', 'why was I charged twice', 'cancel the order']
const shipping = ['track parcel', 'driver left package elsewhere', 'customs form missing', 'redeliver parcel tomorrow']

/** Sessions of one law up to `change`, of another from there; one a minute. */
function sessions(n: number, change: number, changed: Partial<WatchedSession>): WatchedSession[] {
  const random = rng('drift-watch')
  const pick = (of: readonly string[]) => `${of[random.int(of.length)]} please, number ${random.int(9999)}`
  return Array.from({ length: n }, (_, i) => ({
    at: START + i * MINUTE,
    reward: random.next() < 0.7 ? 1 : 0,
    vetoed: i % 50 === 7,
    toolResults: 3,
    toolErrors: random.next() < 0.03 ? 1 : 0,
    instruction: pick(billing),
    tools: ['search', 'open'],
    ...(i >= change && { ...changed, ...(changed.instruction && { instruction: pick(shipping) }) }),
  }))
}

function alertsOf(all: readonly WatchedSession[]): DriftAlert[] {
  let state = NEW_WATCH
  return all.flatMap((session) => {
    const step = watchSession(config, state, session)
    state = DriftWatchState.parse(JSON.parse(JSON.stringify(step.state)))
    return step.alerts
  })
}

describe('watchSession', () => {
  it('says nothing where nothing changes', () => {
    expect(alertsOf(sessions(600, 600, {}))).toEqual([])
  })

  it.each<[string, Partial<WatchedSession>, RegExp, string?]>([
    [
      'reward',
      { reward: 0 },
      /^The reward fell: a mean of 0\.\d+ over the \d+ sessions since 2026-01-01T0\d:\d\d:00\.000Z, after 0\.[67]\d* over the \d+ before\.$/,
    ],
    ['tool-errors', { toolErrors: 2 }, /^More of the tools’ results tell of failures: a mean of 0\.\d+ over/],
    ['vetoes', { vetoed: true }, /^Guards veto more of the sessions: a mean of \d(?:\.\d+)? over/, 'guard'],
    ['task-mix', { instruction: 'x' }, /^The tasks are not the usual ones: a mean of \d\.\d+ nats a feature over/],
    ['task-mix', { tools: ['search', 'open', 'pay'] }, /^The tasks are not the usual ones/],
  ])('tells of a change of %s', (name, changed, message, kind = 'drift') => {
    const [alert, ...more] = alertsOf(sessions(500, 400, changed))
    expect(more).toEqual([])
    expect(alert).toMatchObject({ kind, name, evidence: { sessionsBetweenFalseAlarms: 10_000 } })
    expect(alert?.message).toMatch(message)
    expect((alert?.at as number) - START).toBeLessThan(450 * MINUTE)
  })

  it('hears no drift in sessions without a reward, without tools, or without words', () => {
    const silent: WatchedSession = {
      at: START,
      reward: null,
      vetoed: false,
      toolResults: 0,
      toolErrors: 0,
      instruction: '',
      tools: [],
    }
    expect(watchSession(config, NEW_WATCH, silent)).toMatchObject({
      state: { ...NEW_WATCH, vetoes: { seen: 1 } },
      alerts: [],
    })
  })

  it('begins rewards anew, and nothing else, when another release has served a hundred times', () => {
    const watch = (state: DriftWatchState, some: readonly WatchedSession[]) =>
      some.reduce((before, session) => watchSession(config, before, session).state, state)
    const all = sessions(250, 250, {})
    const released = anotherRelease(watch(NEW_WATCH, all.slice(0, 150)))
    const almost = watch(watch(released, all.slice(150, 249)), [{ ...all[249]!, reward: null }])
    expect(almost).toMatchObject({ reward: { seen: 249 }, rewardsAnewIn: 1 })
    expect(almost.reward.counts).not.toEqual([])
    const anew = watch(almost, [all[249]!])
    expect(anew).toMatchObject({ reward: { seen: 250, counts: [] }, rewardsAnewIn: null })
    expect(anew.taskMix.seen).toBe(151)
  })

  it('sees a drop that comes with another release', () => {
    let state = NEW_WATCH
    const alerts = sessions(300, 200, { reward: 0 }).flatMap((session, i) => {
      const step = watchSession(config, i === 200 ? anotherRelease(state) : state, session)
      state = step.state
      return step.alerts
    })
    expect(alerts).toMatchObject([{ name: 'reward' }])
    expect(alerts[0]!.at - START).toBeLessThan(250 * MINUTE)
    expect(state.rewardsAnewIn).toBeNull()
  })

  it('tells of no drift where another release earns more', () => {
    let state = NEW_WATCH
    const alerts = sessions(300, 200, { reward: 1 }).flatMap((session, i) => {
      const step = watchSession(config, i === 200 ? anotherRelease(state) : state, session)
      state = step.state
      return step.alerts
    })
    expect(alerts).toEqual([])
  })
})
