import { assert, asyncProperty, double, jsonValue, nat, property, string, uniqueArray } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { trajectoryOf } from '../../../test/support/trajectories.ts'
import type { Json, Message, Trajectory } from '../../core/index.ts'
import type { RewardPart } from '../part.ts'
import {
  exactAnswer,
  f1,
  milestones,
  numberIn,
  numericAnswer,
  patternAnswer,
  schemaAnswer,
  setAnswer,
  stateHolds,
} from './index.ts'

const saying = (content: string, state: Json = {}): Trajectory => {
  const message: Message = { role: 'assistant', content }
  return trajectoryOf({ nodes: [{ id: 'q' }, { id: 'a', parent: 'q', message }], finalState: { state, counts: {} } })
}
const silent = trajectoryOf({ nodes: [{ id: 'q' }] })
const unsaid = trajectoryOf({ finalState: null })
const score = (part: RewardPart, trajectory: Trajectory) => part.score(trajectory, [], 0)

describe('what every verifier of an answer reads', () => {
  const parts = {
    exact: exactAnswer({ expected: { is: 'x' }, answer: { at: '/answer' } }),
    numeric: numericAnswer({ expected: { is: 1 }, answer: { at: '/answer' } }),
    set: setAnswer({ expected: { is: ['x'] }, answer: { at: '/answer' } }),
    pattern: patternAnswer({ pattern: 'x', answer: { at: '/answer' } }),
    schema: schemaAnswer({ schema: { type: 'number' }, answer: { at: '/answer' } }),
  }
  it.each(Object.entries(parts))(
    '%s: an environment that says nothing is missing, an agent that does is 0',
    (_, part) => {
      expect(score(part, unsaid)).toBeNull()
      expect(score(part, saying('x', {}))).toBe(0)
    },
  )

  it('nothing expected is missing, never 0', () => {
    const expected = { at: '/expected' }
    for (const part of [
      exactAnswer({ expected }),
      numericAnswer({ expected }),
      setAnswer({ expected }),
      stateHolds({ expected }),
    ]) {
      expect(score(part, saying('1', {}))).toBeNull()
      expect(score(part, unsaid)).toBeNull()
    }
    expect(score(numericAnswer({ expected }), saying('1', { expected: 'no number' }))).toBeNull()
  })

  it('an agent that said nothing is wrong', () => {
    expect(score(exactAnswer({ expected: { is: 'x' } }), silent)).toBe(0)
  })

  it('what decides its output decides its identity', () => {
    const one = exactAnswer({ expected: { is: 'x' } })
    expect(one.identity).toBe(exactAnswer({ expected: { is: 'x' }, caseSensitive: false }).identity)
    expect(one.identity).not.toBe(exactAnswer({ expected: { is: 'y' } }).identity)
    expect(one.identity).not.toBe(exactAnswer({ expected: { is: 'x' }, caseSensitive: true }).identity)
  })

  it('refuses a pointer that is none, and options that it does not know', () => {
    expect(() => exactAnswer({ expected: { at: 'answer' } })).toThrow(/JSON pointer/)
    expect(() => setAnswer({ expected: { is: [] }, of: 'f1' } as never)).toThrow(/unknown key "of"/)
  })
})

describe('exact', () => {
  it.each([
    ['Paris', ' paris\n', 1],
    ['New  York', 'new york', 1],
    ['3.5', '35', 0],
    ['ﬁne', 'fine', 1],
  ])('%j said as %j is %d', (expected, said, is) => {
    expect(score(exactAnswer({ expected: { is: expected } }), saying(said))).toBe(is)
  })

  it('one of several, in its letters, without its marks', () => {
    const expected = { is: ['U.S.', 'USA'] }
    expect(score(exactAnswer({ expected }), saying('usa'))).toBe(1)
    expect(score(exactAnswer({ expected, caseSensitive: true }), saying('usa'))).toBe(0)
    expect(score(exactAnswer({ expected: { is: 'Yes' }, punctuation: false }), saying('Yes.'))).toBe(1)
  })

  it('reads both from the final state, and no property that an object inherits', () => {
    const part = exactAnswer({ answer: { at: '/a/0' }, expected: { at: '/b~1c' } })
    expect(score(part, saying('', { a: [7], 'b/c': '7' }))).toBe(1)
    expect(score(exactAnswer({ expected: { at: '/constructor' } }), saying('x', {}))).toBeNull()
  })
})

describe('numeric', () => {
  it.each([
    ['12 kg', 12],
    ['about $1,234.50 a month', 1234.5],
    ['−3e-4', -3e-4],
    ['.5', 0.5],
    ['5 m2', 5],
    ['7.', 7],
    ['3-5', null],
    ['3 or 4', null],
    ['1.5.2', null],
    ['1,23', null],
    ['m2', null],
    ['', null],
    ['1e999', null],
    ['9'.repeat(300), null],
  ])('reads %j as %j', (text, value) => {
    expect(numberIn(text)).toBe(value)
  })

  it('within the wider tolerance', () => {
    const near = (said: string, options: object) =>
      score(numericAnswer({ expected: { is: 200 }, ...options }), saying(said))
    expect(near('200 km', {})).toBe(1)
    expect(near('201', {})).toBe(0)
    expect(near('201', { absolute: 1 })).toBe(1)
    expect(near('202', { relative: 0.01, absolute: 1 })).toBe(1)
    expect(near('202.1', { relative: 0.01, absolute: 1 })).toBe(0)
  })

  it('reads back every number that it is given', () => {
    assert(
      property(
        double({ noNaN: true, noDefaultInfinity: true }),
        (n) => numberIn(`x ${n} kg`) === (n === 0 ? 0 : n) || Object.is(n, -0),
      ),
    )
  })
})

describe('set', () => {
  const expected = { is: ['a', 'b', 'c'] }
  it.each([
    ['c, A;b', 1, 1],
    ['["c","b","a","a"]', 1, 1],
    ['a, b', 0, 0.8],
    ['a,b,c,d,e,f', 0, 2 / 3],
    ['[a]', 0, 0],
    ['', 0, 0],
  ])('%j', (said, all, share) => {
    expect(score(setAnswer({ expected }), saying(said))).toBe(all)
    expect(score(setAnswer({ expected, by: 'f1' }), saying(said))).toBeCloseTo(share, 12)
  })

  it('in any order, in [0, 1], and symmetric', () => {
    const sets = uniqueArray(string({ maxLength: 3 }))
    assert(
      property(sets, sets, (a, b) => {
        const share = f1(new Set(a), new Set(b))
        expect(share).toBe(f1(new Set(b.toReversed()), new Set(a)))
        expect(share >= 0 && share <= 1).toBe(true)
      }),
    )
  })
})

describe('pattern', () => {
  it('matches the whole answer, or a part', () => {
    expect(score(patternAnswer({ pattern: 'ok \\d+' }), saying('ok 12'))).toBe(1)
    expect(score(patternAnswer({ pattern: 'ok' }), saying('not ok'))).toBe(0)
    expect(score(patternAnswer({ pattern: 'OK', whole: false, caseSensitive: false }), saying('not ok'))).toBe(1)
  })

  it('comes to its end where backtracking would not', () => {
    // JavaScript's own engine takes 2^40 steps here.
    expect(score(patternAnswer({ pattern: '(a+)+b' }), saying(`${'a'.repeat(40)}!`))).toBe(0)
  })

  it('refuses what RE2 does not know', () => {
    for (const pattern of ['(a)\\1', '(?=a)', '(']) {
      expect(() => patternAnswer({ pattern })).toThrow(expect.objectContaining({ code: 'reward/bad-pattern' }))
    }
  })
})

describe('schema', () => {
  const schema = {
    type: 'object',
    properties: {
      total: { type: 'number' },
      code: { type: 'string', pattern: '^(a+)+$' },
      id: { type: 'string', pattern: '^b$' },
    },
    required: ['total'],
    additionalProperties: false,
  }
  it.each([
    ['{"total": 3}', 1],
    ['{"total": "3"}', 0],
    ['{"total": 3, "x": 1}', 0],
    ['total: 3', 0],
    [`{"total": 3, "code": "${'a'.repeat(40)}!"}`, 0],
    ['{"total": 3, "code": "aa", "id": "b"}', 1],
    ['{"total": 3, "id": "a"}', 0],
    ['['.repeat(5_000) + ']'.repeat(5_000), 0],
  ])('%.60s', (said, is) => {
    expect(score(schemaAnswer({ schema }), saying(said))).toBe(is)
  })

  it('refuses a schema that is none, or that refers elsewhere', () => {
    const bad = expect.objectContaining({ code: 'reward/bad-schema' })
    expect(() => schemaAnswer({ schema: { type: 'nothing' } })).toThrow(bad)
    expect(() => schemaAnswer({ schema: { $ref: 'https://example.com/s' } })).toThrow(bad)
    expect(() => schemaAnswer({ schema: { pattern: '(?=a)' } })).toThrow(
      expect.objectContaining({ code: 'reward/bad-pattern' }),
    )
  })
})

describe('state', () => {
  const expected = { is: { order: { status: 'paid', items: ['a', 'b'] }, note: null } }
  it.each<[string, Json, number, number]>([
    ['holds more', { order: { status: 'paid', items: ['a', 'b'], id: 1 }, note: null, x: 1 }, 1, 1],
    ['a longer list', { order: { status: 'paid', items: ['a', 'b', 'c'] }, note: null }, 0, 0.5],
    ['another order', { order: { status: 'paid', items: ['b', 'a'] }, note: null }, 0, 0.5],
    ['a null that is not there', { order: { status: 'paid', items: ['a', 'b'] } }, 0, 0.75],
    ['nothing', null, 0, 0],
  ])('%s', (_, state, all, partial) => {
    expect(score(stateHolds({ expected }), saying('', state))).toBe(all)
    expect(score(stateHolds({ expected, partial: true }), saying('', state))).toBe(partial)
  })

  it('every state holds itself', () => {
    assert(
      property(jsonValue(), (value) => {
        const state = JSON.parse(JSON.stringify(value)) as Json
        expect(score(stateHolds({ expected: { at: '' } }), saying('', state))).toBe(1)
      }),
    )
  })
})

describe('milestones', () => {
  const way = [{ count: 'loaded' }, { count: 'trained', atLeast: 2 }, { at: '/predicted', is: true }]
  const ended = (end: number | null, counts: Record<string, number>, state: Json = {}) =>
    milestones({ identity: 'end', score: () => end }, { milestones: way }).score(
      trajectoryOf({ finalState: { state, counts } }),
      [],
      0,
    )

  it('pays a part of the way, in its order, where the end fails', async () => {
    expect(await ended(0, {})).toBe(0)
    expect(await ended(0, { loaded: 1 })).toBeCloseTo(1 / 6, 12)
    expect(await ended(0, { loaded: 9, trained: 1 })).toBeCloseTo(1 / 6, 12)
    expect(await ended(0, { trained: 5 }, { predicted: true })).toBe(0)
    expect(await ended(0, { loaded: 1, trained: 2 }, { predicted: true })).toBe(0.5)
    expect(await ended(1, {})).toBe(1)
    expect(await ended(null, { loaded: 1 })).toBeNull()
  })

  it('rises with the end and with the way, and never lies above the outcome’s whole', async () => {
    const unit = double({ min: 0, max: 1, noNaN: true })
    await assert(
      asyncProperty(unit, unit, nat(3), nat(3), async (a, b, more, less) => {
        const [low, high] = [Math.min(a, b), Math.max(a, b)]
        const [few, many] = [Math.min(more, less), Math.max(more, less)]
        const counts = (n: number) => ({ loaded: n >= 1 ? 1 : 0, trained: n >= 2 ? 2 : 0 })
        const at = async (end: number, n: number) => (await ended(end, counts(n), { predicted: n >= 3 })) ?? -1
        expect(await at(high, few)).toBeGreaterThanOrEqual(await at(low, few))
        expect(await at(low, many)).toBeGreaterThanOrEqual(await at(low, few))
        expect(await at(high, many)).toBeLessThanOrEqual(1)
        expect(await at(high, many)).toBeGreaterThanOrEqual(high)
      }),
    )
  })

  it('refuses a way worth as much as the end, and an outcome outside [0, 1]', async () => {
    const end = { identity: 'end', score: () => 2 }
    expect(() => milestones(end, { milestones: way, most: 1 })).toThrow(/most/)
    await expect(milestones(end, { milestones: way }).score(trajectoryOf(), [], 0)).rejects.toMatchObject({
      code: 'reward/outcome-out-of-range',
    })
  })
})
