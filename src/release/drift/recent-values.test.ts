import { describe, expect, it } from 'vitest'
import { changeIn, NO_VALUES, type RecentValues, withValue } from './recent-values.ts'

const of = (...values: number[]) => values.reduce((all, value, at) => withValue(all, value, at), NO_VALUES)

describe('changeIn', () => {
  it('splits where most is explained', () => {
    expect(changeIn(of(1, 1, 0.9, 0.2, 0.1, 0.3), 'drop')).toEqual({
      reference: { mean: 2.9 / 3, sessions: 3 },
      recent: { mean: expect.closeTo(0.2, 12), sessions: 3 },
      since: 3,
    })
  })

  it('looks in one direction only', () => {
    expect(changeIn(of(0, 0, 1, 1, 1, 0.5, 0.5), 'drop')).toMatchObject({ since: 5 })
    expect(changeIn(of(0, 0, 1, 1, 1, 0.5, 0.5), 'rise')).toMatchObject({ since: 2 })
  })

  it('says that there is nothing before where nothing changed', () => {
    expect(changeIn(of(1, 1), 'rise')).toEqual({
      reference: { mean: null, sessions: 0 },
      recent: { mean: 1, sessions: 2 },
      since: 0,
    })
  })

  it('keeps the sum of what is too old to be looked at one by one', () => {
    let values: RecentValues = NO_VALUES
    for (let at = 0; at < 2500; at++) values = withValue(values, at < 2400 ? 1 : 0, at)
    expect(values.latest).toHaveLength(1000)
    expect(changeIn(values, 'drop')).toEqual({
      reference: { mean: 1, sessions: 2400 },
      recent: { mean: 0, sessions: 100 },
      since: 2400,
    })
  })
})
