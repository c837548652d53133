import { expect, it } from 'vitest'
import { retryAfterOf } from './retry-after.ts'

const now = Date.parse('2026-11-20T10:00:00Z')

it.each([
  [{ 'retry-after': '7' }, 7],
  [{ 'retry-after': '0' }, 0],
  [{ 'retry-after': '1.5' }, 1.5],
  [{ 'retry-after': 'Fri, 20 Nov 2026 10:01:30 GMT' }, 90],
  [{ 'retry-after': 'Fri, 20 Nov 2026 09:00:00 GMT' }, 0],
  [{ 'retry-after-ms': '250', 'retry-after': '7' }, 0.25],
  [{ 'retry-after-ms': 'soon', 'retry-after': '7' }, 7],
  [{ 'retry-after': '99999999999' }, 86_400],
  [{ 'retry-after': 'Fri, 20 Nov 9999 10:01:30 GMT' }, 86_400],
  [{}, null],
  [{ 'retry-after': '' }, null],
  [{ 'retry-after': '-3' }, null],
  [{ 'retry-after': '1e9' }, null],
  [{ 'retry-after': 'Infinity' }, null],
  [{ 'retry-after': 'tomorrow' }, null],
  [{ 'retry-after': '2026-11-20' }, null],
  [{ 'retry-after': 'Not, a date at all GMT' }, null],
])('%j is %s s', (headers, seconds) => {
  expect(retryAfterOf(headers, now)).toBe(seconds)
})
