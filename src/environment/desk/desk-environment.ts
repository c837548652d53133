import type { Environment, Task } from '../../core/index.ts'
import { carryOut } from './books.ts'
import { DeskEpisode } from './desk-episode.ts'
import { readDeskTask } from './task-data.ts'

/**
 * An order desk: a customer's message asks for something, tools show what the company knows, and one act on one order is
 * right by rules that nothing states. Success is a state, not an answer. No network, no clock.
 */
export class DeskEnvironment implements Environment {
  readonly name = 'desk'

  /**
   * @param _seed changes nothing: an episode has no chance in it.
   * @throws MalformedDeskTaskError when `task.data` is not a {@link DeskTaskData}.
   */
  open(task: Task, _seed: number): DeskEpisode {
    const { books, right } = readDeskTask(task)
    return new DeskEpisode(task, books, carryOut(right.act, right.order, books))
  }
}
