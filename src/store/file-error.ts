import { DiskFullError, ReadOnlyStoreError, StoreError } from './errors/index.ts'

/** What a failure of the file system at `path` means for the store. */
export function fileErrorOf(error: unknown, path: string): StoreError {
  if (error instanceof StoreError) return error
  const { code = '', message } = error as NodeJS.ErrnoException
  if (['ENOSPC', 'EDQUOT'].includes(code)) return new DiskFullError(path, error)
  if (['EACCES', 'EPERM', 'EROFS'].includes(code)) return new ReadOnlyStoreError(path, error)
  return new StoreError({
    code: 'store/file',
    message: `The file ${path} could not be written or read: ${message}`,
    hint: "Check the disk and the permissions of the store's folder.",
    cause: error,
  })
}
