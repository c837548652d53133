export { CommitEnvironment, CommitTaskData } from './commit-environment.ts'
export { CommitsError } from './commits-error.ts'
export type { ChangedFile } from './git-history.ts'
export { type CommitOptions, type CommitTasks, tasksFromCommits, type TriedCall } from './tasks-from-commits.ts'
