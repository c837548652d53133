import { type Rng, rng, type Split, sha256, type Task, TaskId } from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import type { Sentence } from '../sentences.ts'
import type { WorldTasks } from '../world-tasks.ts'
import { drawTask, type FormLength } from './draw.ts'
import type { Fault } from './fields.ts'
import { FormsEnvironment } from './forms-environment.ts'
import { namesOf } from './names.ts'
import type { FormsRequest } from './task-data.ts'
import { sentences } from './wordings.ts'

/** Which tasks are drawn. */
export interface FormsOptions {
  /** Decides everything about the tasks but the names of each split. Default 0. */
  readonly seed?: number
  /** Tasks of each split, half of them `short`, half `long`. Default 1,024, 200 and 400. */
  readonly tasks?: Readonly<Record<Split, number>>
}

/** The environment of forms, and its tasks. */
export interface FormsWorld {
  readonly environment: FormsEnvironment
  /**
   * Tiers `short` (three fields, 6 calls) and `long` (five fields, 9 calls) mixed; the holdout has, beside these and half as
   * many, the tier `reworded` (6 or 9 calls, in words that training never shows). No name of one split occurs in another.
   */
  readonly tasks: WorldTasks
}

type Tier = FormLength | 'reworded'

/** Draws messages and forms: the same for the same options, in any process. */
export function loadForms(options: FormsOptions = {}): FormsWorld {
  const { seed = 0, tasks: counts = { train: 1024, validation: 200, holdout: 400 } } = options
  const draw = <S extends Split>(split: S, tier: Tier, count: number) =>
    drawTasks(split, tier, count, rng('forms', seed, split, tier))
  const both = <S extends Split>(split: S) => [
    ...draw(split, 'short', Math.ceil(counts[split] / 2)),
    ...draw(split, 'long', Math.floor(counts[split] / 2)),
  ]
  const mixed = <T>(tasks: readonly T[]) => rng('forms', seed, 'order').shuffle(tasks)
  return {
    environment: new FormsEnvironment(),
    tasks: {
      train: mixed(both('train')),
      validation: mixed(both('validation')),
      holdout: mixed([...both('holdout'), ...draw('holdout', 'reworded', Math.floor(counts.holdout / 2))]),
    },
  }
}

/** Wordings take turns, and what is right takes turns within each. */
function drawTasks<S extends Split>(split: S, tier: Tier, count: number, random: Rng): Task<S>[] {
  const asked: readonly { readonly sentence: Sentence<FormsRequest['kind']>; readonly length: FormLength }[] =
    tier === 'reworded' ? [...ofLength('heldOut', 'short'), ...ofLength('heldOut', 'long')] : ofLength('seen', tier)
  const names = namesOf(split)
  const drawn = new Map<string, Task<S>>()
  while (drawn.size < count) {
    const { sentence, length } = present(asked[drawn.size % asked.length], 'a wording')
    const data = drawTask(sentence.kind, length, Math.floor(drawn.size / asked.length) % 4, names, random)
    const task: Task<S> = {
      id: TaskId.parse(`${sentence.kind}-${sha256(JSON.stringify([tier, sentence.family, data])).slice(0, 16)}`),
      instruction: sentence.say(slotsOf(data.request)),
      data,
      split,
      tier,
      family: sentence.family,
    }
    drawn.set(task.id, task)
  }
  return [...drawn.values()]
}

const ofLength = (which: 'seen' | 'heldOut', length: FormLength) =>
  sentences[which][length].map((sentence) => ({ sentence, length }))

/** `a crack`, but `noise`. */
const faultWords: Readonly<Record<Fault, string>> = { crack: 'a crack', leak: 'a leak', noise: 'noise', smoke: 'smoke' }

function slotsOf(request: FormsRequest): Record<string, string> {
  const { item, customer, day } = request
  return {
    item,
    ...(customer === null ? {} : { customer }),
    ...(day === null ? {} : { day }),
    ...(request.kind === 'repair' ? { fault: faultWords[request.fault] } : {}),
    ...(request.kind === 'repair' || request.count === null ? {} : { count: String(request.count) }),
    ...(request.kind === 'visit' ? { part: request.part } : {}),
  }
}
