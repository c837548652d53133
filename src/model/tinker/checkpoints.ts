import type { OnTinkerEvent } from './events.ts'
import { file, json, type Requests } from './requests.ts'
import { TinkerError } from './tinker-error.ts'
import type { HttpRequest } from './tinker-http.ts'
import { Anything, CheckpointList } from './wire.ts'

/** What nobody needs is not waited for longer. */
const discardingMs = 5_000

/** Something that a server keeps. */
export interface Checkpoint {
  readonly path: string
  /** `training`: weights and optimizer. `sampler`: weights alone, for samplers. */
  readonly type: string
  /** When it was saved, as the server tells it. */
  readonly time: string
}

/** The content of a checkpoint, as the server keeps it. */
export interface CheckpointFile {
  readonly bytes: Uint8Array
  /** `safetensors`: an adapter that `loadAdapter` of the embedded engine takes. `archive`: a tar.gz, in SkyRL's case of `peft`. */
  readonly form: 'safetensors' | 'archive'
}

/** What a Tinker server keeps of the models that were trained there. */
export class Checkpoints {
  readonly #requests: Requests
  readonly #onEvent: OnTinkerEvent

  constructor(requests: Requests, onEvent: OnTinkerEvent) {
    this.#requests = requests
    this.#onEvent = onEvent
  }

  /** What is kept of one model. @param model its id: the first part of a path, after `tinker://`. */
  async list(model: string): Promise<readonly Checkpoint[]> {
    const path = `/training_runs/${encodeURIComponent(model)}/checkpoints`
    const { checkpoints } = await this.#requests.ask({ method: 'GET', path }, 'list_checkpoints', json(CheckpointList))
    return checkpoints.map(({ tinker_path, checkpoint_type, time }) => ({
      path: tinker_path,
      type: checkpoint_type,
      time,
    }))
  }

  /**
   * Downloads one: its weights, without the optimizer. SkyRL gives those for samplers alone.
   * @throws TinkerError `model/tinker-refused` for a path that the server does not have, or gives nobody.
   */
  async download(path: string): Promise<CheckpointFile> {
    const [model = '', kind = '', name = ''] = partsOf(path)
    const get = (of: string) =>
      this.#requests.ask({ method: 'GET', path: `/training_runs/${model}/checkpoints/${of}/download` }, what, file)
    const what = 'download_checkpoint'
    // Ours has the kind in the address, as deleting has; SkyRL has not.
    const bytes = await get(`${kind}/${name}`).catch((error: unknown) => {
      if (error instanceof TinkerError && error.status === 404 && kind === 'sampler_weights') return get(name)
      throw error
    })
    return { bytes, form: bytes[0] === 0x1f && bytes[1] === 0x8b ? 'archive' : 'safetensors' }
  }

  /** Deletes what nobody names any more. It is asked for once; what stays is told by an event. */
  async discard(path: string): Promise<void> {
    try {
      await this.#requests.once(deletionOf(path), 'delete_checkpoint', AbortSignal.timeout(discardingMs))
    } catch (error) {
      if (error instanceof TinkerError && error.status === 404) return
      this.#onEvent({ type: 'left', what: path, why: (error as Error).message })
    }
  }

  /** Deletes one. Of what is not there, nothing; a server that cannot delete keeps it, and an event tells that. */
  async remove(path: string): Promise<void> {
    try {
      await this.#requests.ask(deletionOf(path), 'delete_checkpoint', json(Anything))
    } catch (error) {
      const status = error instanceof TinkerError ? error.status : null
      if (status === 404) return
      if (status !== 405 && status !== 501) throw error
      this.#onEvent({ type: 'left', what: path, why: 'this server cannot delete checkpoints' })
    }
  }
}

function deletionOf(path: string): HttpRequest {
  const [model = '', kind = '', name = ''] = partsOf(path)
  return { method: 'DELETE', path: `/training_runs/${model}/checkpoints/${kind}/${name}` }
}

const partsOf = (path: string): readonly string[] => path.replace('tinker://', '').split('/').map(encodeURIComponent)
