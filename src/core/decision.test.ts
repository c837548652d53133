import { expect, it } from 'vitest'
import { trajectoryOf } from '../../test/support/trajectories.ts'
import { Decision } from './decision.ts'

const [decision] = trajectoryOf().decisions

it.each([{ log: -120.5 }, { log: 0 }, { log: null, reason: 'closed-api' }])('a propensity can be %j', (propensity) => {
  expect(Decision.parse({ ...decision, propensity }).propensity).toEqual(propensity)
})

it.each([
  ['an unknown propensity without its reason (invariant 3)', { propensity: { log: null } }],
  ['a propensity with an excuse', { propensity: { log: -1, reason: 'closed-api' } }],
  ['a probability above 1', { propensity: { log: 0.5 } }],
  ['no version', { version: '' }],
  ['a generation below 0', { generation: -1 }],
])('refuses %s', (_, change) => {
  expect(Decision.safeParse({ ...decision, ...change }).success).toBe(false)
})
