import { type HoldoutTask, type Rng, rng, type Split, sha256, type Task, TaskId } from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import { FilesEnvironment } from './files-environment.ts'
import { sizeOf } from './jobs/size.ts'
import { makeSort } from './jobs/sort.ts'
import { makeTrail } from './jobs/trail.ts'
import { type Frame, frames } from './wordings.ts'
import { wordsOf } from './words.ts'

/** Which jobs are drawn. */
export interface FilesOptions {
  /** Decides everything about the jobs but the words of each split. Default 0. */
  readonly seed?: number
  /** Tasks of each split, half of them `short`, half `long`. Default 1,024, 200 and 400. */
  readonly tasks?: Readonly<Record<Split, number>>
}

/** The environment of jobs over files, and its tasks. */
export interface FilesWorld {
  readonly environment: FilesEnvironment
  /**
   * Tasks by split in seeded order, tiers `short` (8 to 11 calls) and `long` (12 to 20) mixed; the holdout has, beside these
   * and half as many, the tier `reworded` (8 to 20 calls, in words that training never shows).
   */
  readonly tasks: {
    readonly train: readonly Task<'train'>[]
    readonly validation: readonly Task<'validation'>[]
    readonly holdout: readonly HoldoutTask[]
  }
}

/** Calls that the expert needs for a job of each tier, first and last included. */
const tiers = { short: [8, 11], long: [12, 20], reworded: [8, 20] } as const
type Tier = keyof typeof tiers

/**
 * Jobs of 8 to 20 calls over files in memory, of two kinds: `trail` and `sort`. Every visit of a note has a tempting wrong
 * alternative, and a mistake that is not undone makes the end fail. Names of a split are met in no other.
 */
export function loadFiles(options: FilesOptions = {}): FilesWorld {
  const { seed = 0, tasks: counts = { train: 1024, validation: 200, holdout: 400 } } = options
  const draw = <S extends Split>(split: S, tier: Tier, count: number) =>
    drawTasks(split, tier, count, rng('files', seed, split, tier))
  const both = <S extends Split>(split: S) => [
    ...draw(split, 'short', Math.ceil(counts[split] / 2)),
    ...draw(split, 'long', Math.floor(counts[split] / 2)),
  ]
  const mixed = <T>(tasks: readonly T[]) => rng('files', seed, 'order').shuffle(tasks)
  return {
    environment: new FilesEnvironment(),
    tasks: {
      train: mixed(both('train')),
      validation: mixed(both('validation')),
      holdout: mixed([...both('holdout'), ...draw('holdout', 'reworded', Math.floor(counts.holdout / 2))]),
    },
  }
}

/** Wordings take turns, and lengths take turns within each, so that any few tasks have some of every kind. */
function drawTasks<S extends Split>(split: S, tier: Tier, count: number, random: Rng): Task<S>[] {
  const asked = tier === 'reworded' ? frames.heldOut : frames.seen
  const [fewest, most] = tiers[tier]
  const words = wordsOf(split)
  const drawn = new Map<string, Task<S>>()
  while (drawn.size < count) {
    const frame = present(asked[drawn.size % asked.length], 'a wording')
    const calls = fewest + (Math.floor(drawn.size / asked.length) % (most - fewest + 1))
    const task = makeTask(split, tier, frame, calls, words, random)
    drawn.set(task.id, task)
  }
  return [...drawn.values()]
}

function makeTask<S extends Split>(
  split: S,
  tier: Tier,
  frame: Frame,
  calls: number,
  words: readonly string[],
  random: Rng,
): Task<S> {
  const size = sizeOf(calls, random)
  const data = frame.kind === 'trail' ? makeTrail(words, size, random) : makeSort(words, size, random)
  return {
    id: TaskId.parse(`${frame.kind}-${sha256(JSON.stringify([tier, data])).slice(0, 16)}`),
    instruction: frame.instruction(data.job),
    data,
    split,
    tier,
    family: frame.family,
  }
}
