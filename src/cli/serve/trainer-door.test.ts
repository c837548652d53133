import { afterEach, expect, it } from 'vitest'
import { servedTrainer, tinyService } from '../../../test/support/served-trainer.ts'
import { ask, datumBody, passBody, PatientClient, stepBody } from '../../../test/support/trainer-client.ts'
import type { AdamParams, KeyLimits, Store } from '../../core/index.ts'
import { newKey } from '../../gateway/index.ts'
import { openMemoryStore } from '../../store/index.ts'
import { trainerDoor } from './trainer-door.ts'

let store: Store
afterEach(() => store.close())

const headers = (key: string) => new Headers({ host: '127.0.0.1:8000', 'x-api-key': key })
const made = async (name: string, limits: Partial<KeyLimits> = {}) => {
  const { key: unlimited, token } = newKey({ name, tenant: 'default', scopes: ['infer'], now: Date.now() })
  const key = { ...unlimited, limits: { ...unlimited.limits, ...limits } }
  await store.keys.put(key)
  return { id: key.id, token }
}

it('lets this machine in with whatever the SDK makes up, as long as there is no key', async () => {
  store = await openMemoryStore()
  const door = trainerDoor(store.keys, '127.0.0.1')
  await expect(door(headers('tml-local'), 'place')).resolves.toMatchObject({ owner: 'open' })
})

it('knows keys behind the beginning that the SDK wants, each as an owner of its own', async () => {
  store = await openMemoryStore()
  const [a, b] = [await made('a'), await made('b')]
  const door = trainerDoor(store.keys, '127.0.0.1')
  await expect(door(headers(`tml-${a.token}`), 'place')).resolves.toMatchObject({ owner: a.id })
  await expect(door(headers(b.token), 'place')).resolves.toMatchObject({ owner: b.id })
  for (const wrong of ['tml-local', `tml-${a.token}x`]) {
    await expect(door(headers(wrong), 'nothing')).rejects.toMatchObject({ status: 401 })
  }
})

it('polls and heartbeats take no place of the key whose results they wait for', async () => {
  store = await openMemoryStore()
  const { token } = await made('a', { concurrency: 2 })
  const service = await tinyService()
  let go = () => {}
  const gate = new Promise<void>((resolve) => (go = resolve))
  const server = await servedTrainer({
    door: trainerDoor(store.keys, '127.0.0.1'),
    service: {
      ...service,
      async trainer(...given) {
        const trainer = await service.trainer(...given)
        const step = trainer.optimStep.bind(trainer)
        return Object.assign(trainer, { optimStep: (params: AdamParams) => gate.then(() => step(params)) })
      },
    },
  })
  try {
    const sent = `tml-${token}`
    const client = new PatientClient(server.url, sent)
    const model = await client.model({ rank: 4, seed: 1 }, 'tiny')
    await client.send('/forward_backward', passBody(model, 1, [datumBody([1, 2, 3])]))
    const step = await client.send('/optim_step', stepBody(model, 2))
    const polls = Array.from({ length: 8 }, () => ask(server.url, '/retrieve_future', step, sent))
    await new Promise((resolve) => setTimeout(resolve, 300))
    const [session_id] = model.split(':')
    expect(await ask(server.url, '/session_heartbeat', { session_id }, sent)).toMatchObject({ status: 200 })
    expect(await ask(server.url, '/get_info', { model_id: model }, sent)).toMatchObject({ status: 200 })
    go()
    for (const poll of polls) expect(await poll).toMatchObject({ status: 200, body: { metrics: { step: 1 } } })
  } finally {
    go()
    await server.close()
    await service.close()
  }
})

it('heartbeats are counted apart from what a key may ask, 600 a minute', async () => {
  store = await openMemoryStore()
  const [a, b] = [await made('a', { requestsPerMinute: 1 }), await made('b')]
  const door = trainerDoor(store.keys, '127.0.0.1')
  await door(headers(a.token), 'place')
  for (let i = 0; i < 600; i++) await door(headers(a.token), 'nothing')
  await expect(Promise.all(Array.from({ length: 20 }, () => door(headers(a.token), 'nothing')))).rejects.toMatchObject({
    status: 429,
  })
  await door(headers(b.token), 'nothing')
})
