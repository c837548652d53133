import { expect, it } from 'vitest'
import { redactionThread } from './redaction-thread.ts'

it('redacts one text after the other', async () => {
  const redact = redactionThread(['email'])
  expect(await Promise.all(['jo@example.org', 'nobody', 'by al@example.org'].map(redact))).toEqual([
    { value: '[email]', changed: true },
    { value: 'nobody', changed: false },
    { value: 'by [email]', changed: true },
  ])
})

it('gives up a text that takes too long, and takes the next one', async () => {
  const redact = redactionThread([{ name: 'slow', pattern: 'a*a*a*a*b' }], { patience: () => 6_000 })
  expect(await redact('a'.repeat(20_000))).toEqual({ value: '[unread]', changed: true })
  expect(await redact('an ab')).toEqual({ value: 'an [slow]', changed: true })
})
