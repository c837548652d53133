import { expect, it } from 'vitest'
import { KeyId } from '../../core/index.ts'
import type { Caller } from '../ports.ts'
import { requestContext } from './request-context.ts'

const caller: Caller = {
  tenant: 'acme',
  key: KeyId.parse('k'),
  scopes: new Set(['infer']),
  session: null,
  agent: 'support',
  subject: 'ann',
  train: true,
  limits: { requestsPerMinute: null, concurrency: null, bodyBytes: null },
  authorization: null,
}
const asked = (change: Partial<Caller>, headers: Record<string, string> = {}, user: string | null = null) =>
  requestContext({
    headers: new Headers(headers),
    session: null,
    user,
    caller: { ...caller, ...change },
    train: true,
    signal: new AbortController().signal,
    weight: 0,
  })
const others = { 'ratchet-agent': 'other', 'ratchet-subject': 'bob' }

it('a key’s agent and person are defaults', () => {
  expect(asked({})).toMatchObject({ agent: 'support', subject: 'ann' })
  expect(asked({}, others)).toMatchObject({ agent: 'other', subject: 'bob' })
  expect(asked({}, {}, 'carl')).toMatchObject({ agent: 'support', subject: 'carl' })
})

it('of a session’s key they stand: its holder speaks as nobody else', () => {
  expect(asked({ session: 's' }, others, 'carl')).toMatchObject({ session: 's', agent: 'support', subject: 'ann' })
  expect(asked({ session: 's', agent: null, subject: null }, others)).toMatchObject({ agent: 'other', subject: 'bob' })
})
