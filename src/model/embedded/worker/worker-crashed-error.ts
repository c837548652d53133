import { RatchetError } from '../../../errors/index.ts'

/** A worker thread ended while it was needed; its requests are lost, and so are its caches and accumulated gradients. */
export class WorkerCrashedError extends RatchetError {
  constructor(problem: string, cause?: unknown) {
    super({
      code: 'model/worker-crashed',
      message: `A worker thread of the embedded engine ended: ${problem}`,
      hint: 'Open the engine again; if memory ran out, use fewer workers or a shorter context.',
      cause,
    })
  }
}
