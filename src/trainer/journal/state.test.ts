import { expect, it } from 'vitest'
import type { Outcome, StoredModel, StoredRequest, TrainerEvent } from './events.ts'
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
      expect(one.requests.get(id)?.settledAt).toBe(5)
    }
    expect(one.waitingSamples()).toEqual([])
  }
})

it('only what was done is done over, and a step that dropped its gradient drops it again', () => {
  const work = (kind: 'pass' | 'optim_step'): StoredRequest['work'] =>
    kind === 'pass'
      ? { kind, data: [], loss: { kind: 'cross_entropy' }, forwardOnly: false }
      : { kind, params: { learningRate: 1, beta1: 0, beta2: 0, eps: 0, weightDecay: 0 } }
  const failed = (category: 'user' | 'server', code: string): Outcome => ({
    kind: 'failed',
    message: '',
    category,
    code,
  })
  const outcomes: readonly (readonly [string, 'pass' | 'optim_step', Outcome])[] = [
    ['done', 'pass', { kind: 'plain', body: {} }],
    ['refused', 'pass', failed('user', 'trainer/ends-server')],
    ['unwritable', 'pass', failed('server', 'core/invariant')],
    ['dropped', 'optim_step', failed('user', 'model/non-finite-gradient')],
    ['no step', 'optim_step', failed('user', 'trainer/ends-server')],
  ]
  const state = new TrainerState()
  state.apply({ type: 'session', session: { id: 's', owner: 'a' } })
  state.apply({ type: 'model', model, snapshot: null, passed: 0 })
  for (const [seq, [id, kind, outcome]] of outcomes.entries()) {
    state.apply({ type: 'accepted', request: { ...request(id, 'model', model.id), seq, work: work(kind) } })
    state.apply({ type: 'settled', requests: [{ id, outcome }], at: 5 })
  }
  const again = new TrainerState()
  for (const event of shortened(state)) again.apply(event)
  for (const one of [state, again]) {
    expect(one.models.get(model.id)?.since).toEqual([['done'], ['unwritable'], ['dropped']])
    expect(one.requests.get('refused')?.request.work).toBeNull()
  }
})
