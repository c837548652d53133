export { ArchiveError } from './archive-error.ts'
export { BackupCheckError, BackupFolderError, NoBackupError } from './backup-errors.ts'
export { EndedCanaryError, RunningCanaryError } from './canary-errors.ts'
export { CorruptBlobError, MissingBlobError } from './blob-errors.ts'
export { CorruptRecordError } from './corrupt-record-error.ts'
export { CorruptStoreError } from './corrupt-store-error.ts'
export { CrashedStoreError } from './crashed-store-error.ts'
export {
  AccessDeniedError,
  BadDatabaseUrlError,
  ConnectionLostError,
  ContentionError,
  DatabaseEncodingError,
  MissingDatabaseError,
  TimedOutError,
  TooManyConnectionsError,
  UnavailableStoreError,
  UnknownOutcomeError,
  UnreachableStoreError,
} from './database-errors.ts'
export { DiskFullError } from './disk-full-error.ts'
export { LockedStoreError, type Writer } from './locked-store-error.ts'
export { MissingStoreError } from './missing-store-error.ts'
export { ReadOnlyFolderError, ReadOnlyStoreError } from './read-only-store-error.ts'
export {
  GenerationConflictError,
  RecordConflictError,
  UnknownRecordError,
  UnknownReferenceError,
  UnstorableValueError,
} from './record-errors.ts'
export { ErasedCallError, ErasedSourceError } from './removal-errors.ts'
export { NewerSchemaError, OlderSchemaError } from './schema-errors.ts'
export { StoreError } from './store-error.ts'
export { StoreFolderError } from './store-folder-error.ts'
export { ClosedStoreError, OutsideTransactionError } from './use-errors.ts'
