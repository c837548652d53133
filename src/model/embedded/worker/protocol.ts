import { RatchetError } from '../../../errors/index.ts'
import type { Datastore } from '../nearest/datastore.ts'
import type { ReadRequest } from '../nearest/text-reader.ts'
import type { SampledToken, SampledTokens, SampleJob } from '../sampling/job.ts'
import type { SamplingShardOptions } from '../sampling/shard.ts'
import type { AdapterContent } from '../train/adapter-content.ts'
import type { TrainingShardPort } from '../train/shard.ts'
import type { TrainingShardSetup } from '../train/training-shard.ts'

/** A method of a training shard with its arguments. */
export type TrainingCall = {
  [Method in TrainingMethodName]: { readonly method: Method; readonly args: Parameters<TrainingShardPort[Method]> }
}[TrainingMethodName]

/** What a trainer is, beside the worker's model and its graphs. */
export type TrainerSetup = Pick<TrainingShardSetup, 'trained' | 'values'>

/** Closing is a request of its own: the worker then forgets the shard. */
export type TrainingMethodName = Exclude<keyof TrainingShardPort, 'close'>

/** What a worker can be asked to do once; each is answered by `done` or `failed`. */
export type WorkerRequest =
  | { readonly kind: 'open'; readonly options: SamplingShardOptions }
  | { readonly kind: 'set-vocabulary'; readonly vocabulary: readonly string[] }
  | { readonly kind: 'load-adapter'; readonly id: string; readonly content: AdapterContent }
  | { readonly kind: 'unload-adapter'; readonly id: string }
  | { readonly kind: 'load-datastore'; readonly id: string; readonly datastore: Datastore }
  | { readonly kind: 'unload-datastore'; readonly id: string }
  | { readonly kind: 'fingerprint'; readonly adapter: string | null }
  | { readonly kind: 'read'; readonly request: ReadRequest }
  | { readonly kind: 'end-reading'; readonly reading: number }
  | { readonly kind: 'open-trainer'; readonly trainer: number; readonly setup: TrainerSetup }
  | { readonly kind: 'train'; readonly trainer: number; readonly call: TrainingCall }
  | { readonly kind: 'close-trainer'; readonly trainer: number }
  | { readonly kind: 'close' }

/** From the engine to a worker. */
export type ToWorker =
  | { readonly kind: 'request'; readonly number: number; readonly request: WorkerRequest }
  | { readonly kind: 'sample'; readonly jobs: readonly SampleJob[] }
  | { readonly kind: 'cancel'; readonly job: number }

/** From a worker to the engine. */
export type FromWorker =
  | { readonly kind: 'done'; readonly number: number; readonly result: unknown }
  | { readonly kind: 'failed'; readonly number: number; readonly error: PlainError }
  /** What one run of the model added to streamed jobs under way. */
  | { readonly kind: 'news'; readonly tokens: readonly SampledToken[] }
  | { readonly kind: 'sampled'; readonly results: readonly SampledTokens[] }
  | { readonly kind: 'jobs-failed'; readonly jobs: readonly number[]; readonly error: PlainError }

/** An error as plain data: classes do not survive the way between threads. */
export interface PlainError {
  readonly code: string
  readonly message: string
  readonly hint: string
  readonly stack: string
}

export function toPlainError(error: unknown): PlainError {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
  if (RatchetError.is(error)) return { code: error.code, message: error.message, hint: error.hint, stack }
  return {
    code: 'model/worker-failed',
    message: `A worker of the embedded engine failed: ${error instanceof Error ? error.message : String(error)}`,
    hint: 'The cause has the stack trace; if memory ran out, use fewer workers or a shorter context.',
    stack,
  }
}

/** The error again, with the worker's stack trace as its cause. */
export function fromPlainError({ code, message, hint, stack }: PlainError): RatchetError {
  return new RatchetError({ code, message, hint, cause: stack })
}

/** The memory of the arrays in a message, to be moved instead of copied. Only for messages that give their arrays away. */
export function arraysIn(value: unknown): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>()
  const visit = (item: unknown): void => {
    if (ArrayBuffer.isView(item)) {
      if (item.buffer instanceof ArrayBuffer) buffers.add(item.buffer)
    } else if (typeof item === 'object' && item !== null) {
      for (const inner of Object.values(item)) visit(inner)
    }
  }
  visit(value)
  return [...buffers]
}
