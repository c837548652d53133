import { expect, it } from 'vitest'
import { parseInput } from '../../../core/index.ts'
import { canaryGateFrom } from '../../canary-look.ts'
import { LearnFromTrafficConfig } from './config.ts'

const parsed = (canary: unknown) => parseInput(LearnFromTrafficConfig, { canary }, 'the section learn')
const guardsOf = (guards: unknown) => canaryGateFrom(parsed({ guards })).config['guards']

const usual = {
  brokenCalls: { tolerance: 0.01, range: [0, 1] },
  questionsBack: { tolerance: 0.02, range: [0, 1] },
  inaction: { tolerance: 0.02, range: [0, 1] },
  errors: { tolerance: 0, range: [0, 1] },
  toolErrors: { tolerance: 0.05, range: [0, 1] },
  askedAgain: { tolerance: 0.02, range: [0, 1] },
  tokens: { tolerance: 100, range: [0, 4_096] },
  seconds: { relative: 0.5 },
  cost: { relative: 0.5 },
}

it('a guard that is named changes that one, and no other', () => {
  const { inaction: _, ...rest } = usual
  expect(guardsOf({})).toEqual(usual)
  expect(guardsOf({ inaction: false })).toEqual(rest)
  expect(guardsOf({ inaction: {} })).toEqual(usual)
  expect(guardsOf({ tokens: { range: [0, 100_000] } })).toEqual({
    ...usual,
    tokens: { tolerance: 100, range: [0, 100_000] },
  })
  expect(guardsOf({ cost: { tolerance: 50 } })).toEqual({ ...usual, cost: { tolerance: 50, range: [0, 32_768] } })
  expect(guardsOf({ seconds: { range: [0, 600] } })).toEqual({ ...usual, seconds: { tolerance: 1, range: [0, 600] } })
  expect(guardsOf({ seconds: { relative: 0.1 }, cost: false })).toEqual(
    Object.fromEntries(Object.entries({ ...usual, seconds: { relative: 0.1 } }).filter(([name]) => name !== 'cost')),
  )
})

it('false is no guard at all', () => {
  expect(guardsOf(false)).toEqual({})
})

it('means the same when it is read again', () => {
  const { canary } = parsed({ guards: { inaction: false } })
  expect(parsed(canary).canary).toEqual(canary)
})

it.each([
  [{ guards: { inacton: false } }, 'unknown key "canary.guards.inacton": did you mean "inaction"?'],
  [{ guards: { tokens: { tolerence: 1 } } }, 'did you mean "tolerance"?'],
  [{ guards: { tokens: { range: [5, 5] } } }, 'the range must be [low, high]'],
  [{ missing: 'neutral', missingTolerance: 0.5 }, 'canary.missingTolerance: with missing "neutral" it must be at most'],
  [{ margin: -0.1 }, 'canary.tolerance: what the margin lets pass must be tolerated'],
])('%j is refused', (canary, why) => {
  expect(() => parsed(canary)).toThrow(why)
})
