import { type Rng, rng, type Split, sha256, type Task, TaskId } from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import type { Sentence } from '../sentences.ts'
import type { WorldTasks } from '../world-tasks.ts'
import { type Drawn, drawTask } from './draw.ts'
import { roomOf } from './house.ts'
import { HouseEnvironment } from './house-environment.ts'
import type { HouseRequest } from './task-data.ts'
import { sentences } from './wordings.ts'
import { type HouseWords, wordsOf } from './words.ts'

/** Which tasks are drawn. */
export interface HouseOptions {
  /** Decides everything about the tasks but the words of each split. Default 0. */
  readonly seed?: number
  /** Tasks of each split, half of them `short`, half `long`. Default 1,024, 200 and 400. */
  readonly tasks?: Readonly<Record<Split, number>>
}

/** The environment of small houses, and its tasks. */
export interface HouseWorld {
  readonly environment: HouseEnvironment
  /**
   * Tiers `short` (4 to 8 calls) and `long` (9 to 14) mixed; the holdout has, beside these and half as many, the tier
   * `reworded` (4 to 14 calls, in words that training never shows). Rooms and things of a split are met in no other.
   */
  readonly tasks: WorldTasks
}

/** Calls that the expert needs for a task of each tier, first and last included. */
const tiers = { short: [4, 8], long: [9, 14], reworded: [4, 14] } as const
type Tier = keyof typeof tiers

/**
 * Tasks of 4 to 14 calls in houses of four or five rooms: find a thing, open and unlock what is in the way, put it where it
 * belongs. A thing of the same noun and a container of the same name are always there to be taken for the right ones.
 */
export function loadHouse(options: HouseOptions = {}): HouseWorld {
  const { seed = 0, tasks: counts = { train: 1024, validation: 200, holdout: 400 } } = options
  const draw = <S extends Split>(split: S, tier: Tier, count: number) =>
    drawTasks(split, tier, count, rng('house', seed, split, tier))
  const both = <S extends Split>(split: S) => [
    ...draw(split, 'short', Math.ceil(counts[split] / 2)),
    ...draw(split, 'long', Math.floor(counts[split] / 2)),
  ]
  const mixed = <T>(tasks: readonly T[]) => rng('house', seed, 'order').shuffle(tasks)
  return {
    environment: new HouseEnvironment(),
    tasks: {
      train: mixed(both('train')),
      validation: mixed(both('validation')),
      holdout: mixed([...both('holdout'), ...draw('holdout', 'reworded', Math.floor(counts.holdout / 2))]),
    },
  }
}

/** Wordings take turns, and lengths take turns within each, as far as a kind has tasks of that length. */
function drawTasks<S extends Split>(split: S, tier: Tier, count: number, random: Rng): Task<S>[] {
  const asked = tier === 'reworded' ? sentences.heldOut : sentences.seen
  const [fewest, most] = tiers[tier]
  const houses = new Houses(wordsOf(split), tiers[tier], random)
  const drawn = new Map<string, Task<S>>()
  while (drawn.size < count) {
    const sentence = present(asked[drawn.size % asked.length], 'a wording')
    const calls = fewest + (Math.floor(drawn.size / asked.length) % (most - fewest + 1))
    const task = toTask(split, tier, sentence, houses.take(sentence.kind, calls))
    drawn.set(task.id, task)
  }
  return [...drawn.values()]
}

/** Houses as they are drawn. One whose task takes another number of calls than is wanted is kept until that is wanted. */
class Houses {
  readonly #words: HouseWords
  readonly #calls: readonly [number, number]
  readonly #random: Rng
  readonly #kept = new Map<string, Drawn[]>()

  constructor(words: HouseWords, calls: readonly [number, number], random: Rng) {
    this.#words = words
    this.#calls = calls
    this.#random = random
  }

  /** A task of a kind that takes `calls` calls; where many draws bring none, of as near a number as there is. */
  take(kind: HouseRequest['kind'], calls: number): Drawn {
    const [fewest, most] = this.#calls
    const isKept = () => [...this.#kept].some(([key, { length }]) => key.startsWith(`${kind} `) && length > 0)
    for (let tries = 0; this.#of(kind, calls).length === 0 && (tries < 40 || !isKept()); tries++) {
      const drawn = drawTask(kind, calls, this.#words, this.#random)
      if (drawn !== null && drawn.calls >= fewest && drawn.calls <= most) this.#of(kind, drawn.calls).push(drawn)
    }
    const lengths = Array.from({ length: most - fewest + 1 }, (_, at) => fewest + at)
    const nearest = lengths.sort((a, b) => Math.abs(a - calls) - Math.abs(b - calls))
    const found = nearest.map((length) => this.#of(kind, length)).find((kept) => kept.length > 0)
    return present(found?.pop(), `a task of kind ${kind} in ${fewest} to ${most} calls`)
  }

  #of(kind: HouseRequest['kind'], calls: number): Drawn[] {
    const key = `${kind} ${calls}`
    const kept = this.#kept.get(key) ?? []
    this.#kept.set(key, kept)
    return kept
  }
}

function toTask<S extends Split>(
  split: S,
  tier: Tier,
  { kind, family, say }: Sentence<HouseRequest['kind']>,
  { data }: Drawn,
): Task<S> {
  const { item, from, to } = data.request
  const instruction = say({ item, ...slotsOf('from', 'source', from ?? ''), ...slotsOf('to', 'box', to) })
  return {
    id: TaskId.parse(`${kind}-${sha256(JSON.stringify([tier, instruction, data])).slice(0, 16)}`),
    instruction,
    data,
    split,
    tier,
    family,
  }
}

/** A place as two slots: the room, and the container in it. */
function slotsOf(room: string, container: string, place: string): Record<string, string> {
  return { [room]: roomOf(place), [container]: place.slice(roomOf(place).length + 1) }
}
