import { type HoldoutTask, rng, type Split, type Task } from '../../../core/index.ts'
import { SearchEnvironment } from '../search-environment.ts'
import { type Feature, readFeatures } from './features.ts'
import { Shelf } from './shelf.ts'
import { drawRewordedTasks, drawTasks, type Wordings } from './tasks.ts'

/** Which documents there are and which tasks are drawn. */
export interface MdnOptions {
  /** Decides which questions are asked and in which words; documents and splits do not depend on it. Default 0. */
  readonly seed?: number
  /** Features with longer titles are left out. Default 30, in the unit of `titleLength`. */
  readonly maxTitleLength?: number
  /** Length of a title. Default: its characters; give a tokenizer's count where a small model has to copy titles. */
  readonly titleLength?: (title: string) => number
  /** Tasks of each tier in each split; of a reworded tier, half as many. Default 2,048, 400 and 800. */
  readonly tasks?: Readonly<Record<Split, number>>
  /** How questions are put into words. Default `many`, whose held-out sentences make the reworded tiers of the holdout. */
  readonly wordings?: Wordings
}

/** The environment over MDN's browser compatibility data, and its tasks. */
export interface Mdn {
  readonly environment: SearchEnvironment
  /**
   * Tasks by split, tiers `single-hop` and `composed` mixed in seeded order. With many wordings, the holdout ends with two
   * more tiers: `single-hop reworded` and `composed reworded` ask the same kinds of question in sentences of their own.
   */
  readonly tasks: {
    readonly train: readonly Task<'train'>[]
    readonly validation: readonly Task<'validation'>[]
    readonly holdout: readonly HoldoutTask[]
  }
}

/**
 * Reads `@mdn/browser-compat-data`: documents are features with the versions that support them, in a corpus for each
 * split, so that no title of another split can be met. Takes about a second; nothing is cached on disk.
 * @throws MalformedCorpusError when so many tasks cannot be asked of the documents.
 */
export function loadMdn(options: MdnOptions = {}): Mdn {
  const { seed = 0, tasks: counts = { train: 2048, validation: 400, holdout: 800 }, wordings = 'many' } = options
  const shelves = mdnShelves(options)
  const draw = <S extends Split>(split: S) =>
    drawTasks(shelves[split], split, counts[split], wordings, rng('mdn', seed, split))
  const reworded =
    wordings === 'few'
      ? []
      : drawRewordedTasks(shelves.holdout, Math.floor(counts.holdout / 2), rng('mdn', seed, 'holdout', 'reworded'))
  return {
    environment: new SearchEnvironment(
      { train: shelves.train.corpus, validation: shelves.validation.corpus, holdout: shelves.holdout.corpus },
      'mdn',
    ),
    tasks: {
      train: draw('train'),
      validation: draw('validation'),
      holdout: [...draw('holdout'), ...reworded],
    },
  }
}

/** The documents of every split. */
export function mdnShelves({
  maxTitleLength = 30,
  titleLength = (title) => title.length,
}: MdnOptions = {}): Record<Split, Shelf> {
  const features = readFeatures().filter(({ title }) => titleLength(title) <= maxTitleLength)
  const shelfOf = (split: Split) => new Shelf(features.filter((feature: Feature) => feature.split === split))
  return { train: shelfOf('train'), validation: shelfOf('validation'), holdout: shelfOf('holdout') }
}
