import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it, vi } from 'vitest'
import { defaultBudget } from '../../agent/index.ts'
import { ParameterName, RunId } from '../../core/index.ts'
import type { LearnEvent, SuccessRate } from '../../learn/index.ts'
import { jsonProgress, progress, terminalProgress } from './progress.ts'
import { measured } from './run-line.ts'

const rate: SuccessRate = { success: 0.615, n: 200, ci: [0.546, 0.68], missing: 0 }

const events: readonly LearnEvent[] = [
  {
    type: 'started',
    runId: RunId.parse('run-1'),
    agent: 'a',
    seed: 7,
    resumedAt: null,
    chosen: { budget: defaultBudget, families: 4, demonstrations: 16, names: 0, temperature: 0.7 },
  },
  { type: 'progress', phase: 'update-0', done: 3, total: 12 },
  { type: 'primed', pass: 1, passes: 5, metrics: { loss: 2.34567 }, seconds: 3 },
  {
    type: 'updated',
    update: 2,
    updates: 30,
    rollouts: rate,
    reward: 0.5,
    metrics: {},
    tokensSampled: 900,
    tokensPerSecond: 12345.6,
    seconds: 75,
    etaSeconds: 600,
  },
  { type: 'enough', update: 2, reason: 'goodEnough', message: 'The time is over.' },
  { type: 'baseline', name: 'constant answer', tier: 'single-hop', rate },
  {
    type: 'brought',
    parameter: ParameterName.parse('route'),
    kind: 'choice',
    difference: 0.1,
    ci: [0.05, 0.15],
    n: 200,
    verdict: 'helps',
  },
  { type: 'evaluated', arm: 'learned', split: 'holdout', tier: 'single-hop', update: 2, rate },
]

describe('for people', () => {
  it('every event but a baseline, which the closing lines tell, is a line, with its figures', () => {
    const said: string[] = []
    const progress = terminalProgress({ write: (text) => said.push(stripVTControlCharacters(text)) })
    for (const event of events) progress.event(event)
    progress.say('the end')
    expect(said).toEqual([
      'run       run-1 seed 7\n',
      'prime     pass 1/5  loss 2.346  3 s\n',
      'update     2/30  success 62% [55–68%]  reward 0.50  12,346 tok/s  1 min 15 s, at most 10 min 0 s of training left\n',
      'end       The time is over.\n',
      'brought   "route" brought +0.100 [+0.050, +0.150] on 200 tasks: it helps.\n',
      'test      learned  single-hop: 62% [55–68%] n = 200\n',
      'the end\n',
    ])
  })

  it('what is under way moves on a terminal, in one line that fits, and is cleared for the next', () => {
    const said: string[] = []
    const progress = terminalProgress({ isTTY: true, columns: 30, write: (text) => said.push(text) })
    progress.event({ type: 'progress', phase: 'update-0', done: 3, total: 12 })
    progress.say('done')
    expect(said[0]?.startsWith('\r\u001b[2K')).toBe(true)
    expect(said[0]).not.toContain('\n')
    expect(said.slice(1)).toEqual(['\r\u001b[2K', 'done\n'])
  })
})

it('for machines, every event but progress is one JSON line, and words are not said', () => {
  const said: string[] = []
  const progress = jsonProgress((text) => said.push(text))
  for (const event of events) progress.event(event)
  progress.say('the end')
  expect(said.map((line) => JSON.parse(line) as unknown)).toEqual(events.filter(({ type }) => type !== 'progress'))
  expect(said.every((line) => line.endsWith('}\n'))).toBe(true)
})

it('figures are short, and what was not measured is said', () => {
  expect(stripVTControlCharacters(measured(rate))).toBe('62% [55–68%]')
  expect(measured({ success: null, n: 0, ci: [0, 1], missing: 4 })).toBe('not measured')
})

it('a program prints the same lines, warnings and hints too, and what a learner tells', () => {
  const said: string[] = []
  const listen = progress({ write: (text) => said.push(stripVTControlCharacters(text)) })
  for (const event of events.slice(0, 2)) listen(event)
  listen({
    type: 'found',
    severity: 'warn',
    code: 'learn/unearned',
    message: 'Not imitated: 12.',
    hint: 'Look at them.',
    n: 12,
    of: 30,
    example: null,
  })
  listen({ type: 'lost', agent: 'clerk' })
  expect(said).toEqual([
    'run       run-1 seed 7\n',
    'check     Not imitated: 12. Look at them.\n',
    'learner   another process learns now; this one waits\n',
  ])
})

it('a program’s lines go to standard error, unless it says otherwise', () => {
  const out = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const error = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  for (const event of events.slice(0, 1)) progress()(event)
  const [told, elsewhere] = [error.mock.calls.length, out.mock.calls.length]
  vi.restoreAllMocks()
  expect([told, elsewhere]).toEqual([1, 0])
})
