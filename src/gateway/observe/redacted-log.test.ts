import { expect, it } from 'vitest'
import { redactionOf } from '../episode/redaction/index.ts'
import type { Log } from '../log.ts'
import { redactedLog } from './redacted-log.ts'

const mail = 'jo@example.org'
const kept = () => {
  const lines: unknown[] = []
  const keep = (...args: unknown[]) => void lines.push(args)
  const log = { info: keep, warn: keep, error: keep } as Log
  return { lines, log }
}

it('takes out of a line what must not be written, of errors and their causes too', () => {
  const { lines, log } = kept()
  const error = new Error(`about ${mail}`, { cause: new Error(`since ${mail}`) })
  redactedLog(log, redactionOf(['email'])).warn(
    { err: error, model: mail, list: [mail, { deep: mail }], n: 1 },
    'a line',
  )
  expect(lines).toEqual([
    [expect.objectContaining({ model: '[email]', list: ['[email]', { deep: '[email]' }], n: 1 }), 'a line'],
  ])
  expect(JSON.stringify(lines)).toContain('about [email]')
  expect(JSON.stringify(lines)).not.toContain('jo@')
})

it('is the log as it is without rules', () => {
  const { log } = kept()
  expect(redactedLog(log, redactionOf([]))).toBe(log)
})
