import { describe, expect, it } from 'vitest'
import { assertFromThisMachine, assertMayServe, isLoopback } from './loopback.ts'

describe('this machine', () => {
  it.each(['127.0.0.1', '127.8.9.10', '::1', '[::1]', '0:0:0:0:0:0:0:1', 'localhost', 'LOCALHOST', '::ffff:127.0.0.1'])(
    'is %s',
    (host) => expect(isLoopback(host)).toBe(true),
  )
  it.each([
    '0.0.0.0',
    '::',
    '',
    '10.0.0.1',
    '192.168.1.2',
    'example.com',
    'localhost.example.com',
    '127.0.0.1.nip.io',
    '1',
    '2130706433',
  ])('is not %s', (host) => expect(isLoopback(host)).toBe(false))
})

describe('serving the network', () => {
  const keys = (count: number) => ({ list: async () => Array.from({ length: count }).map(() => ({}) as never) })

  it('without a key is refused, with what to do', async () => {
    await expect(assertMayServe({ host: '0.0.0.0', auth: 'auto' }, keys(0))).rejects.toMatchObject({
      code: 'gateway/open-to-the-network',
      message: expect.stringContaining('0.0.0.0'),
      hint: expect.stringContaining('ratchet keys create'),
    })
  })

  it.each([
    ['with a key', { host: '0.0.0.0', auth: 'auto' }, 1],
    ['where keys are asked for anyway', { host: '0.0.0.0', auth: 'required' }, 0],
    ['on this machine only', { host: '127.0.0.1', auth: 'auto' }, 0],
  ] as const)('%s is fine', async (_, config, count) => {
    await expect(assertMayServe(config, keys(count))).resolves.toBeUndefined()
  })
})

describe('a request without a key', () => {
  it.each([
    { host: 'localhost:8787' },
    { host: '127.0.0.1' },
    { host: '[::1]:8787' },
    { host: 'localhost:8787', origin: 'http://localhost:3000' },
    { host: 'localhost:8787', origin: 'vscode-webview://abc' },
    {},
  ])('from %j is answered', (headers) => {
    expect(() => assertFromThisMachine(new Headers(headers as Record<string, string>))).not.toThrow()
  })

  it.each([
    // A name that its owner points to this machine, and a proxy that has one.
    { host: 'evil.example:8787' },
    { host: 'ratchet.example.com' },
    { host: 'localhost.evil.example' },
    { host: 'localhost@evil.example' },
    { host: '%' },
    // Pages that may post without asking.
    { host: 'localhost:8787', origin: 'https://evil.example' },
    { host: 'localhost:8787', origin: 'http://localhost.evil.example' },
    { host: 'localhost:8787', origin: 'null' },
  ])('from %j is refused', (headers) => {
    expect(() => assertFromThisMachine(new Headers(headers as Record<string, string>))).toThrow(
      'only this machine is served',
    )
  })
})
