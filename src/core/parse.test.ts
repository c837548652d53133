import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { RatchetError } from '../errors/index.ts'
import { nearestName, parseInput } from './index.ts'

const Config = z.strictObject({
  model: z.string().default('m'),
  schedule: z.strictObject({ updates: z.int().positive().default(3) }).prefault({}),
  guards: z
    .record(z.string(), z.union([z.literal(false), z.array(z.strictObject({ range: z.number() }))]))
    .exactOptional(),
})

const failure = (value: unknown) => {
  try {
    parseInput(Config, value, 'the configuration')
  } catch (error) {
    if (RatchetError.is(error)) return error.message
    throw error
  }
  throw new Error('it was accepted')
}

describe('parseInput', () => {
  it('fills in defaults, nested ones too', () => {
    expect(parseInput(Config, {}, 'the configuration')).toEqual({ model: 'm', schedule: { updates: 3 } })
  })

  it('names the nearest known key for a typo, at any depth', () => {
    expect(failure({ modle: 'x' })).toContain('unknown key "modle": did you mean "model"?')
    expect(failure({ schedule: { update: 1 } })).toContain('unknown key "schedule.update": did you mean "updates"?')
  })

  it('names it within lists, alternatives and what goes by any name', () => {
    expect(failure({ guards: { tokens: [{ range: 1, rang: 1 }] } })).toContain(
      'unknown key "guards.tokens.0.rang": did you mean "range"?',
    )
  })

  it('lists the known keys when none is near', () => {
    expect(failure({ zebra: 1 })).toContain('known are "model", "schedule", "guards"')
  })

  it('tells everything that is wrong at once', () => {
    expect(failure({ model: 3, schedule: { updates: -1 } })).toMatch(/model:.*schedule\.updates:/)
  })
})

describe('nearestName', () => {
  it('does not guess wildly', () => {
    expect(nearestName('minimind', ['minimind2-small'])).toBe(null)
    expect(nearestName('minimind2-smal', ['minimind2-small'])).toBe('minimind2-small')
  })
})
