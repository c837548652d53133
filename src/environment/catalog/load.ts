import { type HoldoutTask, type Rng, rng, type Split, sha256, type Task, TaskId } from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import { Corpus, type Document } from '../search/corpus.ts'
import { MalformedCorpusError } from '../search/malformed-corpus-error.ts'
import { SearchEnvironment } from '../search/search-environment.ts'
import type { SearchTaskData } from '../search/task-data.ts'
import { type AskablePart, askableParts } from './askable.ts'
import { type Attribute, attributes } from './attributes.ts'
import { catalogParts, type Part, partDocument } from './parts.ts'
import type { CatalogQuestion } from './question.ts'
import { type Frame, frames } from './wordings.ts'

/** Which questions are drawn. */
export interface CatalogOptions {
  /** Decides which questions are asked; documents and splits do not depend on it. Default 0. */
  readonly seed?: number
  /** Tasks of each split. Default 1,024, 200 and 400. */
  readonly tasks?: Readonly<Record<Split, number>>
}

/** The environment over the spare-part catalogue, and its tasks. */
export interface Catalog {
  readonly environment: SearchEnvironment
  /** What the environment searches: one corpus for all splits, as a JSONL file holds it. */
  readonly documents: readonly Document[]
  /**
   * Tasks by split in seeded order, of the tier `catalog`; the holdout has, beside these and half as many, the tier
   * `catalog reworded`: words that training never uses.
   */
  readonly tasks: {
    readonly train: readonly Task<'train'>[]
    readonly validation: readonly Task<'validation'>[]
    readonly holdout: readonly HoldoutTask[]
  }
}

/**
 * A catalogue of 1,620 spare parts with eight attributes each, and questions about one attribute of one part. A search
 * for a name lists similar parts, whose documents give other answers. Parts of a split are asked about in no other.
 * @throws MalformedCorpusError when more tasks are asked for than there are questions in that many wordings.
 */
export function loadCatalog(options: CatalogOptions = {}): Catalog {
  const { seed = 0, tasks: counts = { train: 1024, validation: 200, holdout: 400 } } = options
  const parts = catalogParts()
  const corpus = new Corpus(parts.map((part) => partDocument(part)))
  const pools = {
    train: askableParts(partsOf(parts, 'train'), corpus),
    validation: askableParts(partsOf(parts, 'validation'), corpus),
    holdout: askableParts(partsOf(parts, 'holdout'), corpus),
  }
  const draw = <S extends Split>(split: S, count: number, tier: string, asked: readonly Frame[]) =>
    drawTasks(split, tier, count, asked, pools[split], rng('catalog', seed, split, tier))
  const reworded = draw('holdout', Math.floor(counts.holdout / 2), 'catalog reworded', frames.heldOut)
  const holdout = [...draw('holdout', counts.holdout, 'catalog', frames.seen), ...reworded]
  return {
    environment: new SearchEnvironment(corpus, 'catalog'),
    documents: corpus.documents,
    tasks: {
      train: draw('train', counts.train, 'catalog', frames.seen),
      validation: draw('validation', counts.validation, 'catalog', frames.seen),
      holdout: rng('catalog', seed, 'order').shuffle(holdout),
    },
  }
}

function partsOf(parts: readonly Part[], split: Split): Part[] {
  return parts.filter((part) => part.split === split)
}

/** Wordings take turns, and no attribute of a part is asked for twice. */
function drawTasks<S extends Split>(
  split: S,
  tier: string,
  count: number,
  asked: readonly Frame[],
  pool: readonly AskablePart[],
  random: Rng,
): Task<S>[] {
  const decks = new Map(attributes.map((attribute) => [attribute, deckOf(attribute, pool, random)]))
  const tasks = Array.from({ length: count }, (_, at) => {
    const frame = present(asked[at % asked.length], 'a wording')
    const part = decks.get(frame.attribute)?.pop()
    if (part === undefined) throw tooFew(split, at, count)
    return toTask(split, tier, frame, part)
  })
  return random.shuffle(tasks)
}

/** Parts to ask an attribute of. Half of those listed first are left out: to open the first hit is seldom right. */
function deckOf(attribute: Attribute, pool: readonly AskablePart[], random: Rng): Part[] {
  const told = pool.filter(({ attributes }) => attributes.includes(attribute))
  return random
    .shuffle(told)
    .filter(({ listedFirst }) => !listedFirst || random.int(2) === 0)
    .map(({ part }) => part)
}

function toTask<S extends Split>(split: S, tier: string, frame: Frame, { name, values }: Part): Task<S> {
  const { attribute, family, instruction } = frame
  const question: CatalogQuestion = { part: name, attribute }
  const data: SearchTaskData = { accepted: [values[attribute], `${attribute} ${values[attribute]}`], question }
  return {
    id: TaskId.parse(`${attribute}-${sha256(JSON.stringify([tier, name])).slice(0, 16)}`),
    instruction: instruction(name),
    data,
    split,
    tier,
    family,
  }
}

function tooFew(split: Split, found: number, count: number): MalformedCorpusError {
  return new MalformedCorpusError(
    `Only ${found} of ${count} questions of the split ${split} can be asked of the catalogue.`,
    'Ask for fewer tasks.',
  )
}
