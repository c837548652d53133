import type { StoredRequest, TrainerEvent } from './events.ts'
import type { HeldRequest, TrainerState } from './state.ts'

/** A short history with the same outcome as that of a state. */
export function* shortened(state: TrainerState): Iterable<TrainerEvent> {
  for (const session of state.sessions.values()) yield { type: 'session', session }
  for (const sampler of state.samplers.values()) yield { type: 'sampler', sampler }
  for (const checkpoint of state.checkpoints.values()) yield { type: 'checkpoint', checkpoint }
  for (const { model, snapshot, passed } of state.models.values()) yield { type: 'model', model, snapshot, passed }
  const told = new Set<string>()
  for (const { since, waiting } of state.models.values()) {
    for (const together of since) {
      const held = together.flatMap((id) => state.requests.get(id) ?? [])
      for (const { request } of held) yield accepted(request)
      yield* settled(held)
      for (const id of together) told.add(id)
    }
    for (const id of waiting) {
      const held = state.requests.get(id)
      if (held) yield* waitingOnes(held)
      told.add(id)
    }
  }
  for (const [id, held] of state.requests) {
    if (told.has(id)) continue
    // It belongs to no model's history: a model that reads it must not do it again.
    yield* waitingOnes(held)
    yield* settled([held])
  }
}

function* waitingOnes({ request, begun }: HeldRequest): Iterable<TrainerEvent> {
  yield accepted(request)
  for (let i = 0; i < begun; i++) yield { type: 'begun', requests: [request.id] }
}

const accepted = (request: StoredRequest): TrainerEvent => ({ type: 'accepted', request })

function* settled(held: readonly HeldRequest[]): Iterable<TrainerEvent> {
  const requests = held.flatMap(({ request: { id }, outcome }) => (outcome === null ? [] : [{ id, outcome }]))
  const at = held[0]?.settledAt ?? 0
  if (requests.length > 0) yield { type: 'settled', requests, at }
}
