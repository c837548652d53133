import { StoreError } from './store-error.ts'

/** A backup would be written where something is already. */
export class BackupFolderError extends StoreError {
  constructor(folder: string) {
    super({
      code: 'store/backup-folder',
      message: `The store cannot be copied to ${folder}: something is there already.`,
      hint: 'Name a folder that does not exist, or an empty one.',
    })
  }
}

/** The copy that a backup made did not pass the database's own check; it was removed. */
export class BackupCheckError extends StoreError {
  constructor(path: string, problem: string, cause?: unknown) {
    super({
      code: 'store/backup-check',
      message: `The copy of the store ${path} is damaged: ${problem}.`,
      hint: 'Check the disks of both, and back up again: the store may be damaged too.',
      cause,
    })
  }
}

/** The database behind the store has tools of its own for copies. */
export class NoBackupError extends StoreError {
  constructor(path: string) {
    super({
      code: 'store/no-backup',
      message: `Ratchet does not copy the store ${path}.`,
      hint: 'Use the tool of its database: for PostgreSQL, `pg_dump`.',
    })
  }
}
