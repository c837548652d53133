import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { ApiKey, sha256 } from '../../core/index.ts'
import { isSecretOf, mentionsToken, newKey, parseToken } from './token.ts'

const options = { name: 'ci', tenant: 'acme', scopes: ['infer', 'infer', 'signal'], now: 5 } as const

it('keeps nothing of the secret but its hash', () => {
  const { key, token } = newKey(options)
  const parsed = parseToken(token)
  expect(parsed?.id).toBe(key.id)
  expect(token).toMatch(/^rk_[0-9A-Za-z]{16}_[0-9A-Za-z]{43}$/)
  expect(JSON.stringify(key)).not.toContain(parsed?.secret)
  expect(key.secretHash).toBe(sha256(parsed?.secret ?? ''))
  expect(ApiKey.parse(JSON.parse(JSON.stringify(key)))).toEqual(key)
  expect(key).toMatchObject({ scopes: ['infer', 'signal'], train: true, session: null, expiresAt: null, createdAt: 5 })
  expect(key.parent).toBeUndefined()
})

it('makes no key twice', () => {
  const tokens = Array.from({ length: 2_000 }, () => newKey(options).token)
  expect(new Set(tokens).size).toBe(tokens.length)
  expect(new Set(tokens.map((token) => token.slice(0, 19))).size).toBe(tokens.length)
})

it.each([
  ['no scope', { ...options, scopes: [] }],
  ['a tenant that is none', { ...options, tenant: 'a b' }],
  ['a name that cannot be shown', { ...options, name: 'a\u0000b' }],
  ['no places', { ...options, limits: { concurrency: 0 } }],
])('makes no key with %s', (_, wrong) => {
  expect(() => newKey(wrong)).toThrow()
})

it('reads its own tokens and nothing else', () => {
  const { token } = newKey(options)
  const mangled = [
    '',
    'rk_',
    `${token} `,
    ` ${token}`,
    `${token}\n`,
    `${token}-`,
    token.replace('rk_', 'RK_'),
    token.replace('rk_', 'sk_'),
    token.slice(0, 40),
    `rk_short_${'a'.repeat(43)}`,
    `rk_${'a'.repeat(65)}_${'a'.repeat(43)}`,
    `rk_${'a'.repeat(16)}_${'a'.repeat(200)}`,
    `rk_${'ä'.repeat(16)}_${'a'.repeat(43)}`,
    `rk_${'a'.repeat(1_000_000)}`,
  ]
  for (const text of mangled) expect(parseToken(text)).toBeNull()
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const parsed = parseToken(text)
      expect(parsed === null || `rk_${parsed.id}_${parsed.secret}` === text).toBe(true)
    }),
  )
  const letters = fc.stringMatching(/^[0-9A-Za-z]{12,64}$/)
  fc.assert(
    fc.property(letters, fc.stringMatching(/^[0-9A-Za-z]{32,128}$/), (id, secret) => {
      expect(parseToken(`rk_${id}_${secret}`)).toEqual({ id, secret })
    }),
  )
})

it('only the secret is the secret', () => {
  const { key, token } = newKey(options)
  const secret = parseToken(token)?.secret ?? ''
  expect(isSecretOf(key, secret)).toBe(true)
  expect(isSecretOf(key, '')).toBe(false)
  expect(isSecretOf(key, key.secretHash)).toBe(false)
  expect(isSecretOf(newKey(options).key, secret)).toBe(false)
  // Nobody has the hash that stands in for a missing key; and if anyone had, there would still be no key.
  expect(isSecretOf(null, '')).toBe(false)
  fc.assert(fc.property(fc.string(), (other) => isSecretOf(key, other) === (other === secret)))
})

it('sees a key of ours in a header, however mangled, and none in what upstreams use', () => {
  const { token } = newKey(options)
  for (const text of [token, `Bearer ${token}`, `Bearer  ${token.slice(0, 12)}`, `Basic ${token}`, `"${token}"`]) {
    expect(mentionsToken(text)).toBe(true)
  }
  for (const text of ['Bearer sk-work_abc', 'Bearer sk-proj-rk_abc', 'Bearer gsk_mark_1', 'Basic cmtfYWJj', '', 'rk']) {
    expect(mentionsToken(text)).toBe(false)
  }
})
