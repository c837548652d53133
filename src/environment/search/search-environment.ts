import type { Environment, Split, Task } from '../../core/index.ts'
import { Corpus } from './corpus.ts'
import { SearchEpisode } from './search-episode.ts'
import { readSearchTask } from './task-data.ts'

/**
 * Emulated search over a fixed corpus: tools `search`, `open`, `answer`; no network. Thousands of episodes share one
 * index and are stepped synchronously. Turn and token limits belong to the caller's budgets.
 */
export class SearchEnvironment implements Environment {
  readonly name: string
  readonly #corpora: Readonly<Record<Split, Corpus>>

  /** @param corpus what every task searches; or one for each split, so that a held-out title can never be met in training. */
  constructor(corpus: Corpus | Readonly<Record<Split, Corpus>>, name = 'search') {
    this.name = name
    this.#corpora = corpus instanceof Corpus ? { train: corpus, validation: corpus, holdout: corpus } : corpus
  }

  /**
   * @param _seed changes nothing: search over a fixed corpus has no chance in it.
   * @throws MalformedTaskError when `task.data` is not a {@link SearchTaskData}.
   */
  open(task: Task, _seed: number): SearchEpisode {
    const { accepted } = readSearchTask(task)
    return new SearchEpisode(this.#corpora[task.split], task, accepted)
  }
}
