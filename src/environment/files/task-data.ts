import { z } from 'zod'
import { type Task, TaskId } from '../../core/index.ts'
import { MalformedFilesTaskError } from './malformed-files-task-error.ts'
import { readTaskData } from '../read-task-data.ts'
import { fullPath } from './path.ts'

const Path = z.string().regex(fullPath, 'must be FOLDER/NAME')
const FilesByPath = z.record(Path, z.string())
/** What each file shall hold in the end; `null`: it shall be gone. Paths left out shall be as they were. */
const Changes = z.record(Path, z.string().nullable())

/** What the instruction says, for a scripted policy; the checker does not read it. */
export const FilesJob = z.discriminatedUnion('kind', [
  /** Notes name one another; those that are finished are archived; the last one says what to write. */
  z.strictObject({ kind: z.literal('trail'), key: z.string(), start: z.string() }),
  /** Every note of the inbox says where it belongs. */
  z.strictObject({ kind: z.literal('sort'), key: z.string() }),
])
export type FilesJob = z.infer<typeof FilesJob>

/** What a file episode starts from, and what it shall come to. */
export const FilesTaskData = z.strictObject({
  job: FilesJob,
  files: FilesByPath,
  changes: Changes.refine((changes) => Object.keys(changes).length > 0, 'must hold at least one change'),
})
export type FilesTaskData = z.infer<typeof FilesTaskData>

/** @throws MalformedFilesTaskError when `task.data` is not a {@link FilesTaskData}. */
export function readFilesTask(task: Task): FilesTaskData {
  return readTaskData(FilesTaskData, task, MalformedFilesTaskError)
}

/** Where a file episode ended: the files before and after, what should have changed, and whether `done` was called. */
export const FilesFinalState = z.strictObject({
  task: TaskId,
  done: z.boolean(),
  before: FilesByPath,
  files: FilesByPath,
  changes: Changes,
})
export type FilesFinalState = z.infer<typeof FilesFinalState>
