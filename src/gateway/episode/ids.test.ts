import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  answerNode,
  freshCall,
  freshTrajectory,
  randomIds,
  readResponseId,
  responseIdOf,
  trajectoryOfSession,
} from './ids.ts'

it('an answer is found by the id that its client saw', () => {
  const trajectory = freshTrajectory(randomIds)
  const call = freshCall(randomIds)
  for (const id of [responseIdOf(trajectory, call), responseIdOf(trajectory, call, 'resp_')]) {
    expect(id.length).toBeLessThanOrEqual(64)
    expect(readResponseId(id)).toEqual({ trajectory, call, node: answerNode(call) })
  }
  expect(responseIdOf(trajectory, call)).toMatch(/^chatcmpl-/)
})

it('reads nothing into other text', () => {
  const good = responseIdOf(freshTrajectory(randomIds), freshCall(randomIds))
  const [prefix = '', tail = ''] = good.split('-', 2)
  const others = [
    '',
    'chatcmpl-',
    `${good}\n`,
    ` ${good}`,
    `${good}0`,
    good.slice(0, -1),
    good.toUpperCase(),
    `${prefix}-../${tail}`,
    `msg_${good}`,
    `chatcmpl-${'0'.repeat(1_000_000)}`,
  ]
  for (const other of others) expect(readResponseId(other)).toBeNull()
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const read = readResponseId(text)
      expect(read === null || responseIdOf(read.trajectory, read.call) === text).toBe(true)
    }),
  )
})

it('a session is one trajectory of its tenant, and no other name or tenant leads there', () => {
  expect(trajectoryOfSession('acme', 'ticket 1')).toBe(trajectoryOfSession('acme', 'ticket 1'))
  fc.assert(
    fc.property(fc.tuple(fc.string(), fc.string()), fc.tuple(fc.string(), fc.string()), (one, other) => {
      fc.pre(JSON.stringify(one) !== JSON.stringify(other))
      expect(trajectoryOfSession(...one)).not.toBe(trajectoryOfSession(...other))
    }),
  )
})
