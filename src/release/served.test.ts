import { expect, it } from 'vitest'
import { item } from '../../test/support/memory-items.ts'
import { memory, storedValue } from '../agent/index.ts'
import { mintVersion } from '../core/index.ts'
import { openMemoryStore } from '../store/index.ts'
import { Registry } from './index.ts'
import { loadServed } from './served.ts'

it('keeps a memory as the object that it was, on which its index hangs, until it says something else', async () => {
  const store = await openMemoryStore()
  const declared = memory({ items: [item('a broken kettle', { derivedFrom: ['ada'] }), item('a lost parcel')] })
  const value = storedValue(
    'memory',
    declared.of,
    declared.initial(() => ''),
  )
  const version = mintVersion('memory', value, { parents: [], run: null })
  await new Registry(store).initial('support', [version])
  const first = await loadServed(store, null, new Map())
  const again = await loadServed(store, null, first.served)
  const loaded = ({ served }: typeof first) => served.get('support')?.versions.get('memory')
  expect(loaded(again)).toBe(loaded(first))

  const serving = first.served.get('support') ?? expect.fail('nothing serves')
  const shorter = storedValue(
    'memory',
    declared.of,
    memory({ items: [] }).initial(() => ''),
  )
  const otherwise = { ...serving, versions: new Map([['memory', { ...version, value: shorter }]]) }
  const changed = await loadServed(store, null, new Map([['support', otherwise]]))
  expect(loaded(changed)).toEqual(version)
  await store.close()
})
