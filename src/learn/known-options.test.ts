import { expect, it } from 'vitest'
import { refuseUnknownOptions } from './known-options.ts'
import type { LearnOptions } from './options.ts'

const refused = (kind: string, names: object) => () =>
  refuseUnknownOptions({ source: { kind }, ...names } as unknown as LearnOptions)

it('refuses a name that nobody reads, and tells those that there are', () => {
  expect(refused('rollouts', { relase: 1, model: 1 })).toThrow('learn over rollouts has no option "relase"')
  expect(refused('rollouts', { relase: 1 })).toThrow(
    expect.objectContaining({ code: 'learn/unknown-option', hint: expect.stringContaining('release, method') }),
  )
  expect(refused('rollouts', { prime: 1, budget: 1, seed: undefined })).not.toThrow()
})

it('refuses what belongs to the other source, and says how a mode is written', () => {
  expect(refused('traffic', { prime: 1 })).toThrow('learn over traffic has no option "prime"')
  expect(refused('traffic', { mode: 'canary' })).toThrow(
    expect.objectContaining({ hint: expect.stringContaining('release: shadow()') }),
  )
})
