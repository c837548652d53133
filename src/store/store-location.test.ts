import { join } from 'node:path'
import { expect, it } from 'vitest'
import { storeLocation } from './store-location.ts'

const url = 'postgresql://ratchet@db/ratchet'

it('is what the command line says', () => {
  expect(storeLocation({ folder: 'here', env: { RATCHET_DATABASE_URL: url } })).toEqual({
    path: join('here', 'ratchet.db'),
  })
  expect(storeLocation({ folder: url, env: {} })).toEqual({ url })
  expect(storeLocation({ folder: 'mysql://root:secret@db/x', env: {} })).toEqual({ url: 'mysql://root:secret@db/x' })
})

it('is else what the environment says', () => {
  expect(storeLocation({ env: { RATCHET_DATABASE_URL: ` ${url}\n` } })).toEqual({ url })
})

it('is else in the folder .ratchet', () => {
  for (const env of [{}, { RATCHET_DATABASE_URL: '' }, { RATCHET_DATABASE_URL: ' ' }]) {
    expect(storeLocation({ env })).toEqual({ path: join('.ratchet', 'ratchet.db') })
  }
})
