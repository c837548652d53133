import { type HoldoutTask, type Rng, type Split, type Task, TaskId } from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import type { SearchTaskData } from '../task-data.ts'
import { type Question, type QuestionKind, tierOfKind } from './question.ts'
import { questionId, sampleQuestions } from './sampling.ts'
import type { Shelf } from './shelf.ts'
import { putInWords, type WordingSet } from './wording.ts'
import { fewPhrases } from './wordings/few.ts'

/**
 * How questions are put into words. `many`: by a grammar of sentences, politeness and browsers' names, with some sentences
 * held out. `few`: by two to four phrases a kind; none is held out, and tasks name no family.
 */
export type Wordings = 'few' | 'many'

/** Kinds of the tier `composed`, in equal shares. */
const composedKinds = ['which-first', 'wherever', 'how-many'] as const satisfies readonly QuestionKind[]

/** Puts a question into words; `turn` counts those of its kind from 0. */
type Saying = (question: Question, turn: number, random: Rng) => Pick<Task, 'instruction' | 'family'>

/** What a task is made of beside its question. */
interface Making<S extends Split> {
  readonly split: S
  readonly say: Saying
  /** Ends the task's id; tells apart tasks that ask the same in different tiers. */
  readonly idEnding: string
  /** Ends the tier's name. */
  readonly tierEnding: string
}

/** `count` tasks of the tier `single-hop` and as many of `composed`, in seeded order. */
export function drawTasks<S extends Split>(
  shelf: Shelf,
  split: S,
  count: number,
  wordings: Wordings,
  random: Rng,
): Task<S>[] {
  const say = wordings === 'few' ? sayPlainly : sayIn('seen')
  return draw(shelf, count, { split, say, idEnding: '', tierEnding: '' }, random)
}

/** `count` tasks of the tier `single-hop reworded` and as many of `composed reworded`, in seeded order: held-out sentences. */
export function drawRewordedTasks(shelf: Shelf, count: number, random: Rng): HoldoutTask[] {
  return draw(
    shelf,
    count,
    { split: 'holdout', say: sayIn('heldOut'), idEnding: '-reworded', tierEnding: ' reworded' },
    random,
  )
}

function draw<S extends Split>(shelf: Shelf, count: number, making: Making<S>, random: Rng): Task<S>[] {
  const ofKind = (kind: QuestionKind, share: number) =>
    sampleQuestions(shelf, kind, share, random).map(({ question, accepted }, turn): Task<S> => {
      const data: SearchTaskData = { accepted: [...accepted], question }
      return {
        id: TaskId.parse(`${questionId(question)}${making.idEnding}`),
        ...making.say(question, turn, random),
        data,
        split: making.split,
        tier: `${tierOfKind(kind)}${making.tierEnding}`,
      }
    })
  const singleHop = ofKind('since', count)
  const composed = composedKinds.flatMap((kind, at) => ofKind(kind, Math.floor((count + at) / composedKinds.length)))
  return random.shuffle([...singleHop, ...composed])
}

const sayIn =
  (set: WordingSet): Saying =>
  (question, turn, random) =>
    putInWords(question, set, turn, random)

const sayPlainly: Saying = ({ kind, browser, titles }, _turn, random) => {
  const phrases = fewPhrases[kind]
  const phrase = present(phrases[random.int(phrases.length)], 'a phrase')
  return { instruction: phrase(titles, browser ?? 'every browser') }
}
