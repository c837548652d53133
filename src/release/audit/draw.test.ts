import { describe, expect, it } from 'vitest'
import { Audit, TrajectoryId } from '../../core/index.ts'
import { placeOf } from '../assignment.ts'
import { drawFor, probabilityAt } from './draw.ts'

const canary = { salt: 'secret', shares: [0.01, 0.5, 1] }
const audit = Audit.parse({ share: 0.25, by: 'person', queue: 5 })
const sessions = Array.from({ length: 4_000 }, (_, i) => TrajectoryId.parse(`t_${i}`))
const drawOf = (session: TrajectoryId, { salt = canary.salt, propensity = 0.5, waiting = 0 } = {}) =>
  drawFor({ ...canary, salt }, audit, session, { propensity, waiting: { truths: waiting, words: 0 } })

describe('the draw of a session', () => {
  it('has its probability, the same for ever, and hangs on a secret', () => {
    const drawn = sessions.filter((session) => drawOf(session)?.draw)
    // 1,000 expected, a standard deviation of 27.
    expect(Math.abs(drawn.length - 1_000)).toBeLessThan(110)
    expect(drawn).toEqual(sessions.filter((session) => drawOf(session)?.draw))
    const other = sessions.filter((session) => drawOf(session, { salt: 'other' })?.draw)
    expect(drawn.filter((session) => other.includes(session)).length).toBeLessThan(400)
  })

  it('has nothing to do with the arm', () => {
    const candidates = sessions.filter((session) => placeOf(canary.salt, session) < 0.5)
    const drawn = candidates.filter((session) => drawOf(session)?.draw)
    expect(Math.abs(drawn.length / candidates.length - 0.25)).toBeLessThan(0.04)
  })

  it('names nobody, and tells nothing of the session', () => {
    const ids = sessions.flatMap((session) => drawOf(session)?.draw ?? [])
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.every((id) => /^[0-9a-f]{16}$/.test(id))).toBe(true)
  })

  it('is not made while as many wait as may', () => {
    expect(sessions.every((session) => drawOf(session, { waiting: 5 }) === null)).toBe(true)
    expect(drawOf(sessions[0]!, { waiting: 4 })).not.toBeNull()
  })

  it('asks a judge about more, among them all whose truth is asked for, under ids that tell it', () => {
    const judged = Audit.parse({ ...audit, share: 0.05, judge: { share: 0.5, model: 'm' } })
    const draws = sessions.map((session) =>
      drawFor(canary, judged, session, { propensity: 0.5, waiting: { truths: 0, words: 0 } }),
    )
    const [asked, labelled] = [draws.filter((one) => one?.judge?.draw), draws.filter((one) => one?.draw)]
    expect(Math.abs(asked.length - 2_000)).toBeLessThan(140)
    expect(Math.abs(labelled.length - 200)).toBeLessThan(60)
    expect(labelled.every((one) => one?.judge?.draw === one?.draw)).toBe(true)
    expect(asked.filter((one) => one?.judge?.draw?.startsWith('judge-'))).toHaveLength(asked.length - labelled.length)
    expect(draws[0]).toMatchObject({ probability: 0.05, judge: { probability: 0.5 } })
    const full = { propensity: 0.5, waiting: { truths: 0, words: 1_000 } }
    expect(sessions.every((session) => drawFor(canary, judged, session, full) === null)).toBe(true)
  })

  it('spends labels where they tell most: fewer while the candidate has one session in a hundred', () => {
    expect(probabilityAt(0.25, canary.shares, 0.5)).toBe(0.25)
    expect(probabilityAt(0.25, canary.shares, 0.01)).toBeCloseTo(0.25 * 0.0396)
    expect(probabilityAt(0.25, canary.shares, 1)).toBe(0)
  })
})
