import { availableParallelism } from 'node:os'
import type { Device } from '../device/device.ts'

/** Models from this size on get one worker: a copy of the weights for each core would not fit. */
const largeModelBytes = 300e6

/** Workers, and threads in each, for weights of so many bytes: what is asked for, else by the machine. */
export function parallelism({
  bytes,
  deterministic = false,
  device = 'cpu',
  workers: asked,
  threadsPerWorker,
}: {
  readonly bytes: number
  readonly deterministic?: boolean
  readonly device?: Device
  readonly workers?: number
  readonly threadsPerWorker?: number
}): { readonly workers: number; readonly threads: number } {
  const cores = deterministic ? 1 : availableParallelism()
  const workers = asked ?? (bytes < largeModelBytes && device === 'cpu' ? Math.min(cores, 4) : 1)
  return { workers, threads: threadsPerWorker ?? Math.max(1, Math.floor(cores / workers)) }
}
