import { RunId } from '../../src/core/index.ts'
import { wilson } from '../../src/gate/index.ts'
import type { SuccessRate } from '../../src/learn/index.ts'

export const fixtureRun = RunId.parse('run-20261120063107-k3x9')
export const at = Date.UTC(2026, 10, 20, 6, 31, 7)
export const UPDATES = 30
export const tiers = ['single-hop', 'composed'] as const

export const rate = (successes: number, n: number, missing = 0): SuccessRate => ({
  success: n === 0 ? null : successes / n,
  n,
  ci: wilson(successes, n, 0.95),
  missing,
})

export const tierName = (tier: string, hostile: string | undefined) =>
  hostile === undefined ? tier : `${tier} ${hostile}`
