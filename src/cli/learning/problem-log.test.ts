import { describe, expect, it } from 'vitest'
import { LearnError } from '../../learn/index.ts'
import { problemLog } from './problem-log.ts'

describe('the log of what goes wrong with audits', () => {
  it('has code and message of each kind once in ten minutes, however many sessions have it', () => {
    const lines: unknown[] = []
    let now = 0
    const tell = problemLog(
      { warn: ({ err }, message) => void lines.push([err.code, err.message, message]) },
      { now: () => now },
    )
    for (let i = 0; i < 50; i++) {
      tell(new LearnError({ code: 'learn/out', message: 'it is out', hint: '' }))
      tell(new TypeError('x'.repeat(999)))
    }
    const failed = "an audit's verifier or judge failed"
    expect(lines).toEqual([
      ['learn/out', 'it is out', failed],
      [undefined, 'x'.repeat(300), failed],
    ])
    now = 600_000
    tell(new LearnError({ code: 'learn/out', message: 'it is out', hint: '' }))
    expect(lines.at(-1)).toEqual(['learn/out', 'it is out', `${failed}, and 49 times since it was last told`])
  })
})
