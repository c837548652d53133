import { StoreError } from './store-error.ts'

/** The write was refused because the disk (or its quota) is full. Nothing of it is kept. */
export class DiskFullError extends StoreError {
  constructor(path: string, cause?: unknown) {
    super({
      code: 'store/disk-full',
      message: `There is no space left to write to ${path}.`,
      hint: 'Free some space and write again: what was acknowledged before is safe.',
      cause,
    })
  }
}
