import type { Environment, Task } from '../../core/index.ts'
import { HouseEpisode } from './house-episode.ts'
import { readHouseTask } from './task-data.ts'

/**
 * A small house in words: rooms, containers, keys and locked doors. Tools `look`, `go`, `take`, `open`, `unlock`, `put` and
 * `done`. Turn and token limits belong to the caller's budgets; {@link loadHouse}' tasks take 4 to 14 calls.
 */
export class HouseEnvironment implements Environment {
  readonly name = 'house'

  /**
   * @param _seed changes nothing: there is no chance in a house.
   * @throws MalformedHouseTaskError when `task.data` is not a {@link HouseTaskData}.
   */
  open(task: Task, _seed: number): HouseEpisode {
    return new HouseEpisode(task, readHouseTask(task))
  }
}
