import { absent } from '../errors.ts'
import type { TrainerHost } from '../host.ts'
import type { StoredCheckpoint } from '../journal/events.ts'

/** A checkpoint of this owner by its path. @throws TrainerRequestError 404, also for another key's. */
export function checkpointOf(host: TrainerHost, owner: string, path: string, field: string): StoredCheckpoint {
  const found = host.state.checkpoints.get(path)
  if (found?.owner === owner) return found
  throw absent('checkpoint', path, field)
}

/** The checkpoints of an owner, of one model or of all, the oldest first. */
export function listCheckpoints(host: TrainerHost, owner: string, model: string | null) {
  const own = [...host.state.checkpoints.values()].filter(
    (one) => one.owner === owner && (model === null || one.model === model),
  )
  return {
    checkpoints: own.map(({ name, path, at, bytes, state }) => ({
      checkpoint_id: name,
      checkpoint_type: state === null ? 'sampler' : 'training',
      time: new Date(at).toISOString(),
      tinker_path: path,
      size_bytes: bytes,
      public: false,
    })),
    cursor: { offset: 0, limit: own.length, total_count: own.length },
  }
}

/** Deletes a checkpoint; sampling sessions that were opened on it go on. */
export async function deleteCheckpoint(host: TrainerHost, owner: string, path: string): Promise<void> {
  await host.deleteCheckpoint(checkpointOf(host, owner, path, 'checkpoint_id').path)
}

/** The adapter's weights as safetensors bytes. */
export const checkpointBytes = (host: TrainerHost, owner: string, path: string): Promise<Uint8Array> =>
  host.blob(checkpointOf(host, owner, path, 'checkpoint_id').weights)

/** The models of an owner that are loaded, as training runs. */
export function trainingRuns(host: TrainerHost, owner: string) {
  const runs = [...host.state.models.values()].filter(({ model }) => model.owner === owner)
  return {
    training_runs: runs.map(({ model }) => runOf(host, model.id, owner)),
    cursor: { offset: 0, limit: runs.length, total_count: runs.length },
  }
}

/** One training run: a model that is loaded. @throws TrainerRequestError 404 */
export function runOf(host: TrainerHost, id: string, owner: string) {
  const held = host.state.models.get(id)
  if (held?.model.owner !== owner) throw absent('training run', id, 'training_run_id')
  const of = listCheckpoints(host, owner, id).checkpoints
  const last = (type: string) => of.findLast(({ checkpoint_type }) => checkpoint_type === type) ?? null
  return {
    training_run_id: id,
    base_model: host.service.base,
    model_owner: owner,
    is_lora: true,
    corrupted: false,
    lora_rank: held.model.lora.rank,
    last_request_time: new Date(held.model.createdAt).toISOString(),
    last_checkpoint: last('training'),
    last_sampler_checkpoint: last('sampler'),
  }
}
