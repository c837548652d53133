import { describe, expect, it } from 'vitest'
import { parseInput } from '../../../core/index.ts'
import { ReporterLimits } from '../../../reward/index.ts'
import { LearnFromTrafficConfig } from './config.ts'
import { refuseStrangers } from './who-decides.ts'

const configured = (mode: string, reporters: object = {}) =>
  parseInput(LearnFromTrafficConfig, { mode, reporters }, 'the configuration').mode

const limits = (reporters: object) => parseInput(ReporterLimits, reporters, 'the limits')

describe('the mode automatic', () => {
  it.each([
    {},
    { share: 0.01, shareOfKey: 0.01 },
    // A reporter whom the owner trusts is no key whose names are people.
    { trusted: ['k_1f0c:crm'] },
  ])('is refused where nobody said whose names are people: %j', (reporters) => {
    expect(() => configured('automatic', reporters)).toThrow(/reporters\.trusted: .*make up names and decide alone/)
    expect(() => refuseStrangers(limits(reporters))).toThrow('needs a trusted key')
  })

  it('is refused where keys that are not trusted may outvote those that are', () => {
    const reporters = { trusted: ['k_1f0c'], shareOfKey: 0.6 }
    expect(() => configured('automatic', reporters)).toThrow('reporters.shareOfKey')
    expect(() => refuseStrangers(limits(reporters))).toThrow('0.5 at most')
  })

  it('is taken where the owner says so', () => {
    expect(configured('automatic', { trusted: ['open'] })).toBe('automatic')
    expect(() => refuseStrangers(limits({ share: 1, trusted: ['k_1f0c'] }))).not.toThrow()
  })
})

it('the other modes need nobody who is trusted: a person promotes, or nobody', () => {
  expect(configured('canary')).toBe('canary')
  expect(configured('shadow', { shareOfKey: 1 })).toBe('shadow')
})
