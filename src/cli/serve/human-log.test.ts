import { stripVTControlCharacters } from 'node:util'
import { expect, it } from 'vitest'
import { InputError } from '../../errors/index.ts'
import { gatewayLogger } from '../../gateway/index.ts'
import { humanLog } from './human-log.ts'

function logged(log: (logger: ReturnType<typeof gatewayLogger>) => void): string {
  let told = ''
  const write = (text: string) => {
    told += text
    return true
  }
  log(gatewayLogger({ destination: humanLog({ write }), level: 'info' }))
  return stripVTControlCharacters(told)
}

const call = { operation: 'chat', model: 'gpt-4o-mini', status: 200, ms: 48.2, trajectory: 't_1' }

it('tells a call on one line, and no JSON', () => {
  expect(logged((logger) => logger.info({ ...call, inputTokens: 20, outputTokens: 12 }, 'call'))).toBe(
    'call      gpt-4o-mini · 200 · 0.0 s · 20 tokens in, 12 out · t_1\n',
  )
})

it('tells a failure by its code', () => {
  const failed = { ...call, status: 502, failure: 'model/upstream-failed' }
  expect(logged((logger) => logger.info(failed, 'call'))).toContain('502 model/upstream-failed')
})

it('tells what an operator should know, with its cause', () => {
  const err = new Error('disk full')
  expect(logged((logger) => logger.warn({ err }, 'a record could not be kept up'))).toBe(
    'gateway   a record could not be kept up: disk full\n',
  )
})

it('tells what to do, where the error says it', () => {
  const err = new InputError({ code: 'input/x', message: 'It broke.', hint: 'Mend it.' })
  expect(logged((logger) => logger.warn({ err }, 'oops'))).toBe('gateway   oops: It broke. Mend it. [input/x]\n')
})

it('moves no cursor, whatever a client calls its model', () => {
  const line = logged((logger) => logger.info({ ...call, model: 'a\u001b[2J\nforged' }, 'call'))
  expect(line.trimEnd().split('\n')).toHaveLength(1)
  expect(line).not.toContain('\u001b')
})
