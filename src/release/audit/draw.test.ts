import { describe, expect, it } from 'vitest'
import { Audit, TrajectoryId } from '../../core/index.ts'
import { placeOf } from '../assignment.ts'
import { drawFor, probabilityAt } from './draw.ts'

const canary = { salt: 'secret', shares: [0.01, 0.5, 1] }
const audit = Audit.parse({ share: 0.25, by: 'person', queue: 5 })
const sessions = Array.from({ length: 4_000 }, (_, i) => TrajectoryId.parse(`t_${i}`))
const drawOf = (session: TrajectoryId, { salt = canary.salt, propensity = 0.5, waiting = 0 } = {}) =>
  drawFor({ ...canary, salt }, audit, session, { propensity, waiting })

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

  it('spends labels where they tell most: fewer while the candidate has one session in a hundred', () => {
    expect(probabilityAt(0.25, canary.shares, 0.5)).toBe(0.25)
    expect(probabilityAt(0.25, canary.shares, 0.01)).toBeCloseTo(0.25 * 0.0396)
    expect(probabilityAt(0.25, canary.shares, 1)).toBe(0)
  })
})
