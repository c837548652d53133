import type { Environment, Task } from '../../core/index.ts'
import { FormsEpisode } from './forms-episode.ts'
import { readFormsTask } from './task-data.ts'

/**
 * Data entry: a customer's message, a form, and a table to look codes up in. What a field takes is learned from the form's
 * errors, and what belongs in it from what was shown and rewarded. Success is the form as it was sent.
 */
export class FormsEnvironment implements Environment {
  readonly name = 'forms'

  /**
   * @param _seed changes nothing: an episode has no chance in it.
   * @throws MalformedFormsTaskError when `task.data` is not a {@link FormsTaskData}.
   */
  open(task: Task, _seed: number): FormsEpisode {
    return new FormsEpisode(task, readFormsTask(task))
  }
}
