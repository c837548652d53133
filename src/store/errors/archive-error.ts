import { StoreError } from './store-error.ts'

/** An archive cannot be built or opened. Nothing of it is half-written. */
export class ArchiveError extends StoreError {}

export const archiveExists = (folder: string): ArchiveError =>
  new ArchiveError({
    code: 'store/archive-exists',
    message: `${folder} is there already.`,
    hint: 'An archive never changes: build into a new folder, or remove this one.',
  })

export const archiveMissing = (folder: string, cause: unknown): ArchiveError =>
  new ArchiveError({
    code: 'store/archive-missing',
    message: `${folder} holds no archive.`,
    hint: 'Give the folder that an archive was built into, with all of its files.',
    cause,
  })

export const archiveClosed = (folder: string): ArchiveError =>
  new ArchiveError({
    code: 'store/archive-closed',
    message: `The archive ${folder} is closed.`,
    hint: 'Open it again, and close it when nothing recalls from it any more.',
  })

export const archiveUnreadable = (folder: string, why: string, cause?: unknown): ArchiveError =>
  new ArchiveError({
    code: 'store/archive-unreadable',
    message: `The archive ${folder} cannot be read: ${why}.`,
    hint: 'Copy it again from where it was built, or build it anew.',
    cause,
  })

export const archiveRows = (message: string): ArchiveError =>
  new ArchiveError({
    code: 'store/archive-rows',
    message,
    hint: 'Look at what the rows are made from; nothing was written.',
  })

export const archiveUnwritable = (folder: string, cause: unknown): ArchiveError =>
  new ArchiveError({
    code: 'store/archive-unwritable',
    message: `The archive ${folder} cannot be written: ${cause instanceof Error ? cause.message : String(cause)}.`,
    hint: 'See that its folder can be written to, and that the disk has room.',
    cause,
  })

export const noVectorIndex = (cause: unknown): ArchiveError =>
  new ArchiveError({
    code: 'store/no-vector-index',
    message: 'Archives need the package usearch, which cannot be loaded here.',
    hint: 'Run npm install usearch. Its binaries are for Linux and macOS; elsewhere npm compiles it.',
    cause,
  })
