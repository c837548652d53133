import { expect, it } from 'vitest'
import { ClientName } from './tenant.ts'

it('a name that is too long is refused for that alone: it is not looked through', () => {
  const codes = (name: string) => ClientName.safeParse(name).error?.issues.map(({ code }) => code)
  expect(codes('\0'.repeat(257))).toEqual(['too_big'])
  expect(codes('\0')).toEqual(['invalid_format'])
  expect(codes('Grüße 東京')).toBeUndefined()
})
