import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { wrongOnTheWire } from './target.ts'

const problem = (url: string, ...rawHeaders: string[]) => wrongOnTheWire({ url, rawHeaders })?.code ?? null

it('refuses dot segments, however they are written', () => {
  const dot = fc.constantFrom('.', '%2e', '%2E')
  const dots = fc.array(dot, { minLength: 1, maxLength: 2 }).map((some) => some.join(''))
  const segment = fc.constantFrom('v1', 'ratchet', 'chat', '...', 'a.b', '.hidden', 'x..')
  const separator = fc.constantFrom('/', '\\')
  fc.assert(
    fc.property(fc.array(segment), dots, fc.array(segment), separator, (before, dots, after, between) => {
      const path = (segments: readonly string[]) => `/${segments.join('/')}`
      expect(problem(`${path([...before, 'x'])}${between}${dots}${after.length > 0 ? path(after) : ''}?a=b`)).toBe(
        'gateway/bad-target',
      )
      expect(problem(path([...before, ...after]))).toBeNull()
      expect(problem(`${path(before)}?${dots}/${dots}`)).toBeNull()
    }),
  )
  expect(problem('http://localhost/v1/%2e%2e/ratchet/keys')).toBe('gateway/bad-target')
})

it('refuses a header of ours that comes twice, and lets others be', () => {
  expect(problem('/', 'Ratchet-Session', 'a', 'ratchet-session', 'a')).toBe('gateway/bad-header')
  expect(problem('/', 'ratchet-key', 'a', 'x', 'y', 'RATCHET-KEY', 'b')).toBe('gateway/bad-header')
  expect(problem('/', 'ratchet-key', 'a', 'ratchet-session', 'b', 'accept', 'x', 'accept', 'y')).toBeNull()
})
