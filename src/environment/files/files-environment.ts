import type { Environment, Task } from '../../core/index.ts'
import { FilesEpisode } from './files-episode.ts'
import { readFilesTask } from './task-data.ts'

/**
 * Jobs over a file system in memory: tools `list`, `read`, `move`, `copy`, `write`, `delete` and `done`; no disk is
 * touched. Turn and token limits belong to the caller's budgets; {@link loadFiles}' jobs take 8 to 20 calls.
 */
export class FilesEnvironment implements Environment {
  readonly name = 'files'

  /**
   * @param _seed changes nothing: there is no chance in the files.
   * @throws MalformedFilesTaskError when `task.data` is not a {@link FilesTaskData}.
   */
  open(task: Task, _seed: number): FilesEpisode {
    return new FilesEpisode(task, readFilesTask(task))
  }
}
