import { expect, it } from 'vitest'
import type { StoredModel, StoredRequest, TrainerEvent } from './events.ts'
import { shortened } from './shortened.ts'
import { TrainerState } from './state.ts'

const model: StoredModel = {
  id: 's:train:0',
  owner: 'a',
  session: 's',
  lora: { kind: 'lora', rank: 4, alpha: 32, targets: ['q'] },
  seed: 1,
  createdAt: 1,
}
const request = (id: string, kind: 'model' | 'sampler', subject: string): StoredRequest => ({
  id,
  owner: 'a',
  subject: { kind, id: subject },
  seq: 1,
  hash: id,
  work: { kind: 'save_weights', name: 'x' },
})

it('a request whose model or sampler ended while it was written down is over', () => {
  const state = new TrainerState()
  const events: TrainerEvent[] = [
    { type: 'session', session: { id: 's', owner: 'a' } },
    { type: 'model', model, snapshot: null, passed: 0 },
    { type: 'sampler', sampler: { id: 's:sample:0', owner: 'a', session: 's', weights: null, path: null } },
    { type: 'session-ended', session: 's', at: 5 },
    { type: 'accepted', request: request('late', 'model', model.id) },
    { type: 'accepted', request: request('later', 'sampler', 's:sample:0') },
  ]
  for (const event of events) state.apply(event)
  const again = new TrainerState()
  for (const event of shortened(state)) again.apply(event)
  for (const one of [state, again]) {
    for (const id of ['late', 'later']) {
      expect(one.requests.get(id)?.outcome).toMatchObject({ kind: 'failed', category: 'user' })
    }
    expect(one.waitingSamples()).toEqual([])
  }
})
