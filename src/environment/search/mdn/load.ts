import { type HoldoutTask, type Rng, rng, type Split, type Task, TaskId } from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import { SearchEnvironment } from '../search-environment.ts'
import type { SearchTaskData } from '../task-data.ts'
import { type Feature, readFeatures } from './features.ts'
import { type QuestionKind, questionForms } from './question.ts'
import { type AnsweredQuestion, questionId, sampleQuestions } from './sampling.ts'
import { Shelf } from './shelf.ts'

/** Which documents there are and which tasks are drawn. */
export interface MdnOptions {
  /** Decides which questions are asked and in which words; documents and splits do not depend on it. Default 0. */
  readonly seed?: number
  /** Features with longer titles are left out. Default 30, in the unit of `titleLength`. */
  readonly maxTitleLength?: number
  /** Length of a title. Default: its characters; give a tokenizer's count where a small model has to copy titles. */
  readonly titleLength?: (title: string) => number
  /** Tasks of each tier in each split. Default 2,048, 400 and 800. */
  readonly tasks?: Readonly<Record<Split, number>>
}

/** The environment over MDN's browser compatibility data, and its tasks. */
export interface Mdn {
  readonly environment: SearchEnvironment
  /** Tasks by split, tiers `single-hop` and `composed` mixed in seeded order. */
  readonly tasks: {
    readonly train: readonly Task<'train'>[]
    readonly validation: readonly Task<'validation'>[]
    readonly holdout: readonly HoldoutTask[]
  }
}

/** Shares of the kinds within their tier. */
const composedKinds = ['which-first', 'wherever', 'how-many'] as const satisfies readonly QuestionKind[]

/**
 * Reads `@mdn/browser-compat-data`: documents are features with the versions that support them, in a corpus for each
 * split, so that no title of another split can be met. Takes about a second; nothing is cached on disk.
 * @throws MalformedCorpusError when so many tasks cannot be asked of the documents.
 */
export function loadMdn(options: MdnOptions = {}): Mdn {
  const { seed = 0, tasks: counts = { train: 2048, validation: 400, holdout: 800 } } = options
  const shelves = mdnShelves(options)
  return {
    environment: new SearchEnvironment(
      { train: shelves.train.corpus, validation: shelves.validation.corpus, holdout: shelves.holdout.corpus },
      'mdn',
    ),
    tasks: {
      train: drawTasks(shelves.train, 'train', counts.train, rng('mdn', seed, 'train')),
      validation: drawTasks(shelves.validation, 'validation', counts.validation, rng('mdn', seed, 'validation')),
      holdout: drawTasks(shelves.holdout, 'holdout', counts.holdout, rng('mdn', seed, 'holdout')),
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

function drawTasks<S extends Split>(shelf: Shelf, split: S, count: number, random: Rng): Task<S>[] {
  const singleHop = sampleQuestions(shelf, 'since', count, random).map((q) => toTask(q, split, 'single-hop', random))
  const composed = composedKinds.flatMap((kind, at) => {
    const share = Math.floor((count + at) / composedKinds.length)
    return sampleQuestions(shelf, kind, share, random).map((q) => toTask(q, split, 'composed', random))
  })
  return random.shuffle([...singleHop, ...composed])
}

function toTask<S extends Split>(
  { question, accepted }: AnsweredQuestion,
  split: S,
  tier: string,
  random: Rng,
): Task<S> {
  const { phrases } = questionForms[question.kind]
  const phrase = present(phrases[random.int(phrases.length)], 'a phrase')
  const data: SearchTaskData = { accepted: [...accepted], question }
  return {
    id: TaskId.parse(questionId(question)),
    instruction: phrase(question.titles, question.browser ?? 'every browser'),
    data,
    split,
    tier,
  }
}
