import { describe, expect, it } from 'vitest'
import { gatewayLogger } from './logger.ts'

function logged(work: (logger: ReturnType<typeof gatewayLogger>) => void, level = 'trace'): string {
  const lines: string[] = []
  work(gatewayLogger({ level, destination: { write: (line: string) => void lines.push(line) } }))
  return lines.join('')
}

describe('what must never be written', () => {
  it.each<[string, object]>([
    ['a token', { token: 'SECRET' }],
    ['a key in headers', { headers: { authorization: 'SECRET', 'ratchet-key': 'SECRET', 'x-api-key': 'SECRET' } }],
    ['a request', { req: { headers: { authorization: 'SECRET', 'api-key': 'SECRET' } } }],
    ['a caller', { caller: { authorization: 'SECRET', session: 'SECRET', subject: 'SECRET' } }],
    ['a key', { key: { id: 'x', secretHash: 'SECRET' } }],
    ['a conversation', { messages: ['SECRET'], message: { content: 'SECRET' }, request: { messages: 'SECRET' } }],
    [
      'an error by another name',
      { cause: Object.assign(new Error('x'), { body: 'SECRET', cause: { token: 'SECRET' } }) },
    ],
    ['a list', { calls: [{ caller: { subject: 'SECRET' } }] }],
    ['another spelling', { headers: { Authorization: 'SECRET', 'Ratchet-Key': 'SECRET' } }],
    ['what hides behind toJSON', { headers: { toJSON: () => ({ cookie: 'SECRET' }) } }],
    ['what an upstream said', { err: Object.assign(new Error('x'), { body: { error: 'SECRET' } }) }],
  ])('is not, though it is handed over: %s', (_, fields) => {
    const line = logged((logger) => logger.info(fields, 'oops'))
    expect(line).toContain('oops')
    expect(line).toContain('[redacted]')
    expect(line).not.toContain('SECRET')
  })
})

it('nothing is handed down either, and depth without end is cut', () => {
  const nested: Record<string, unknown> = {}
  nested['inner'] = nested
  const line = logged((logger) => logger.child({ token: 'SECRET', part: 'auth' }).info({ nested }, 'x'))
  expect(JSON.parse(line)).toMatchObject({ token: '[redacted]', part: 'auth' })
  expect(line).toContain('[cut]')
  expect(line).not.toContain('SECRET')
})

it('says the rest', () => {
  expect(
    JSON.parse(logged((logger) => logger.warn({ status: 503, err: new Error('disk full') }, 'call'))),
  ).toMatchObject({
    name: 'ratchet',
    level: 40,
    status: 503,
    err: { message: 'disk full' },
    msg: 'call',
  })
})

it('is as quiet as it is told to be, and refuses a level that there is not', () => {
  expect(logged((logger) => logger.info('x'), 'warn')).toBe('')
  expect(logged((logger) => logger.fatal('x'), 'silent')).toBe('')
  expect(() => gatewayLogger({ level: 'loud' })).toThrow('RATCHET_LOG_LEVEL')
})

it('writes hostile text as one line', () => {
  const line = logged((logger) => logger.info({ model: 'a\n{"level":60,"msg":"forged"}\u2028\u0000' }, 'call'))
  expect(line.trimEnd().split('\n')).toHaveLength(1)
  expect(JSON.parse(line).msg).toBe('call')
})
