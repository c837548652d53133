import { expect, it } from 'vitest'
import { item } from '../../../test/support/memory-items.ts'
import { storedValue, valueIn } from '../kind-value.ts'
import { memory } from './memory-kind.ts'
import { MemoryValue } from './value.ts'

const declared = memory()
const { of } = declared
const empty = MemoryValue.parse(declared.initial(() => ''))

it('refuses an item of 10 MB, and names what is too large', () => {
  expect(() => item('kettle', { text: 'x'.repeat(10_000_000) })).toThrow(
    expect.objectContaining({ code: 'memory/item-too-large', message: expect.stringContaining('10000000 bytes') }),
  )
})

it('refuses a value with such an item, whoever made it', () => {
  const items = [{ ...item('kettle'), text: 'x'.repeat(10_000_000) }]
  expect(() => storedValue('cases', of, { ...empty, items })).toThrow(
    expect.objectContaining({ code: 'agent/bad-value', message: expect.stringContaining('items.0.text') }),
  )
})

it('refuses two items of one id, and an item that says more of itself than there is', () => {
  for (const items of [[item('kettle'), item('kettle')], [{ ...item('kettle'), verified: true }]]) {
    expect(() => storedValue('cases', of, { ...empty, items })).toThrow(
      expect.objectContaining({ code: 'agent/bad-value' }),
    )
  }
})

it('reads a stored value once: a value that many episodes act with is one object', () => {
  const stored = storedValue('cases', of, { ...empty, items: [item('kettle')] })
  expect(valueIn('cases', of, stored)).toBe(valueIn('cases', of, stored))
})

it('counts equal texts of one owner as one item, and of two owners as two', () => {
  expect(item('kettle').id).toBe(item('kettle', { source: 'elsewhere', trust: 0.5 }).id)
  expect(item('kettle').id).not.toBe(item('kettle', { owner: { tenant: 'acme', about: null } }).id)
})

it('says what it costs to recall', () => {
  expect(item('kettle', { text: 'x'.repeat(401) }).rent).toEqual({ tokens: 101 })
})

it('reads what earlier versions wrote: milliseconds beside the tokens', () => {
  const written = { ...item('kettle'), rent: { tokens: 3, ms: 0 } }
  expect(MemoryValue.parse({ ...empty, items: [written] }).items[0]?.rent).toEqual({ tokens: 3 })
})

it.each([{ recall: 0 }, { floor: 2 }, { explore: 0.6 }, { minTrust: -1 }])('refuses %j', (options) => {
  expect(() => memory(options)).toThrow(expect.objectContaining({ code: 'memory/bad-options' }))
})
