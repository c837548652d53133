import { expect, it } from 'vitest'
import { readCredentials } from './credentials.ts'

const token = `rk_${'a'.repeat(16)}_${'b'.repeat(43)}`
const other = `rk_${'c'.repeat(16)}_${'d'.repeat(43)}`

it.each<[string, Record<string, string>, string | null, string | null]>([
  ['nothing', {}, null, null],
  ['the bearer', { authorization: `Bearer ${token}` }, token, null],
  ['the bearer in another spelling', { authorization: `bearer   ${token} ` }, token, null],
  ['a token without its scheme', { authorization: token }, token, null],
  [
    'ratchet-key, and one for the upstream',
    { 'ratchet-key': token, authorization: 'Bearer sk-1' },
    token,
    'Bearer sk-1',
  ],
  ['ratchet-key as a bearer', { 'ratchet-key': `Bearer ${token}` }, token, null],
  ['ratchet-key before another of ours', { 'ratchet-key': token, authorization: `Bearer ${other}` }, token, null],
  ['x-api-key', { 'x-api-key': token }, token, null],
  ['api-key', { 'api-key': token }, token, null],
  ['x-api-key beside one for the upstream', { 'x-api-key': token, authorization: 'Bearer sk-1' }, token, 'Bearer sk-1'],
  ['one for the upstream alone', { authorization: 'Bearer sk-1' }, null, 'Bearer sk-1'],
  ['another scheme', { authorization: 'Basic dXNlcjpwYXNz' }, null, 'Basic dXNlcjpwYXNz'],
  ['an api-key of another API', { 'api-key': 'azure' }, null, null],
  ['an empty ratchet-key', { 'ratchet-key': ' ', authorization: 'Bearer sk-1' }, null, 'Bearer sk-1'],
])('reads %s', (_, headers, expected, authorization) => {
  expect(readCredentials(new Headers(headers))).toEqual({ token: expected, authorization })
})

it.each([
  `Basic ${token}`,
  `Bearer ${token}, Bearer sk-1`,
  `Bearer "${token}"`,
  `Token token=${token}`,
  `Bearer ${token.slice(0, 15)}`,
])('passes nothing on that looks like a key of ours: %s', (authorization) => {
  const read = readCredentials(new Headers({ authorization }))
  expect(read.authorization).toBeNull()
  expect(read.token).not.toBeNull()
})
