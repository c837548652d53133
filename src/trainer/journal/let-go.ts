import type { BlobHash } from '../../core/index.ts'
import type { Settled, StoredCheckpoint, StoredSampler, TrainerEvent } from './events.ts'
import type { HeldModel, TrainerState } from './state.ts'

/** Blobs of what an event ends or replaces, told before it is applied: after it they may be named no more. */
export function letGoBy(event: TrainerEvent, state: TrainerState): readonly BlobHash[] {
  switch (event.type) {
    case 'settled': {
      const { checkpoint, sampler, snapshot, unloaded } = event
      return [
        ...ofCheckpoint(checkpoint && state.checkpoints.get(checkpoint.path)),
        ...ofSampler(sampler && state.samplers.get(sampler.id)),
        ...ofModel(snapshot && state.models.get(snapshot.model)),
        ...ofModel(unloaded === undefined ? undefined : state.models.get(unloaded)),
      ]
    }
    case 'sampler':
      return ofSampler(state.samplers.get(event.sampler.id))
    case 'checkpoint-deleted':
      return ofCheckpoint(state.checkpoints.get(event.path))
    case 'session-ended':
      return [
        ...[...state.models.values()].flatMap((held) => (held.model.session === event.session ? ofModel(held) : [])),
        ...[...state.samplers.values()].flatMap((one) => (one.session === event.session ? ofSampler(one) : [])),
      ]
    case 'session':
    case 'accepted':
    case 'model':
    case 'checkpoint':
    case 'begun':
    case 'put-back':
      return []
  }
}

/** What was put for a step: each once. */
export const putFor = ({ sampler, checkpoint, snapshot }: Omit<Settled, 'type' | 'at'>): readonly BlobHash[] => [
  ...ofSampler(sampler),
  ...ofCheckpoint(checkpoint),
  ...(snapshot ? [snapshot.state] : []),
]

const ofModel = (held: HeldModel | undefined) => (held?.snapshot ? [held.snapshot] : [])
const ofSampler = (sampler: StoredSampler | undefined) => (sampler?.weights ? [sampler.weights.blob] : [])
const ofCheckpoint = (checkpoint: StoredCheckpoint | undefined) =>
  checkpoint ? [checkpoint.weights, ...(checkpoint.state === null ? [] : [checkpoint.state])] : []
