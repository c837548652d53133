import { stripVTControlCharacters } from 'node:util'
import { expect, it } from 'vitest'
import { ParameterName, ReleaseId, RunId } from '../core/index.ts'
import type { RolloutSummary } from '../learn/index.ts'
import { closingLines } from './closing-lines.ts'
import type { RivalArithmetic } from '../report/index.ts'

const rate = (success: number) => ({ success, n: 400, ci: [success - 0.05, success + 0.05] as const, missing: 0 })
const summary: RolloutSummary = {
  runId: RunId.parse('run-1'),
  base: rate(0.05),
  primed: rate(0.26),
  control: null,
  learned: rate(0.26),
  decision: 'hold',
  releaseId: null,
  seconds: 61,
  tokensSampled: 1000,
  tokensTrained: 2000,
}
const where = { agent: 'librarian', report: 'report.html', store: '' }
const linesOf = (rivals: readonly RivalArithmetic[], changes: Partial<RolloutSummary> = {}) =>
  closingLines({ ...summary, ...changes }, [{ name: 'scripted expert', tier: 'all', rate: rate(0.9) }], rivals, where)
    .map(stripVTControlCharacters)
    .join('\n')

it('tell every rival with its mean and the difference, and whether it is beaten', () => {
  const told = linesOf([
    {
      name: 'primed\n\u001b[2J',
      scored: 400,
      means: { rival: 0.26, candidate: 0.26 },
      interval: [-0.02, 0.02],
      beaten: false,
    },
    { name: 'first hit', scored: 400, means: { rival: 0.1, candidate: 0.26 }, interval: [0.09, 0.22], beaten: true },
    { name: 'chance', scored: 0, means: null, interval: null, beaten: false },
  ])
  expect(told).toContain('✗ primed')
  expect(told).toContain('0.26 (0 [−0.02, +0.02]), ✓ first hit 0.1 (+0.16 [+0.09, +0.22]), ✗ chance no score of both.')
  expect(told).not.toMatch(/primed\n/)
  expect(told).toContain('The gate says hold; the previous release still serves.')
  expect(told).toContain('For comparison: scripted expert 90%.')
  expect(told).not.toContain('Serve it')
})

it('tell what each Parameter brought, where several changed', () => {
  const part = { kind: 'choice', difference: 0.3, ci: [0.2, 0.4], n: 400, verdict: 'helps' } as const
  const brought = [
    { ...part, parameter: ParameterName.parse('model') },
    { ...part, parameter: ParameterName.parse('route'), difference: null, ci: [-1, 1], verdict: 'unclear' } as const,
  ]
  expect(linesOf([], { brought })).toContain(
    'Of that: model +0.3 [+0.2, +0.4]: it helps, route not scored [−1, +1]: whether it helps is not shown.',
  )
  expect(linesOf([])).not.toContain('Of that')
})

it('say nothing of rivals where there are none, and how to undo a release', () => {
  const told = linesOf([], { decision: 'promote', releaseId: ReleaseId.parse('r7') })
  expect(told).not.toContain('To beat')
  expect(told).toContain('release r7 serves now. Undo it with: npx ratchet rollback')
  expect(told).toContain('Serve it: npx ratchet serve --agent librarian')
})
