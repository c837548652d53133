import { afterEach, expect, it } from 'vitest'
import type { Store } from '../../core/index.ts'
import { newKey } from '../../gateway/index.ts'
import { openMemoryStore } from '../../store/index.ts'
import { trainerDoor } from './trainer-door.ts'

let store: Store
afterEach(() => store.close())

const headers = (key: string) => new Headers({ host: '127.0.0.1:8000', 'x-api-key': key })
const made = async (name: string) => {
  const { key, token } = newKey({ name, tenant: 'default', scopes: ['infer'], now: Date.now() })
  await store.keys.put(key)
  return { id: key.id, token }
}

it('lets this machine in with whatever the SDK makes up, as long as there is no key', async () => {
  store = await openMemoryStore()
  const door = trainerDoor(store.keys, '127.0.0.1')
  await expect(door(headers('tml-local'))).resolves.toMatchObject({ owner: 'open' })
})

it('knows keys behind the beginning that the SDK wants, each as an owner of its own', async () => {
  store = await openMemoryStore()
  const [a, b] = [await made('a'), await made('b')]
  const door = trainerDoor(store.keys, '127.0.0.1')
  await expect(door(headers(`tml-${a.token}`))).resolves.toMatchObject({ owner: a.id })
  await expect(door(headers(b.token))).resolves.toMatchObject({ owner: b.id })
  for (const wrong of ['tml-local', `tml-${a.token}x`]) {
    await expect(door(headers(wrong))).rejects.toMatchObject({ status: 401 })
  }
})
