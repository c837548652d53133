import { type HoldoutTask, type Rng, rng, type Split, sha256, type Task, TaskId } from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import { deck, drawCase } from './cases.ts'
import { DeskEnvironment } from './desk-environment.ts'
import { type Names, namesOf } from './names.ts'
import { actBy, type RequestKind, ruleFor } from './rules.ts'
import type { DeskRequest, DeskTaskData } from './task-data.ts'
import { itemLines, orderLines, readItemLines, readOrderLines } from './views.ts'
import { heldOutWordings, seenWordings, type Wordings } from './wordings.ts'

/** Which tasks are drawn. */
export interface DeskOptions {
  /** Decides what the tasks are; which names belong to which split does not depend on it. Default 0. */
  readonly seed?: number
  /** How many. `reworded` are further holdout tasks, in wordings of their own. Default 1,024, 200, 400 and 200. */
  readonly tasks?: Readonly<Record<Split | 'reworded', number>>
}

/** The order desk and its tasks. */
export interface Desk {
  readonly environment: DeskEnvironment
  /** Tasks by split: tier `desk`, and in the holdout also `desk reworded`. No name of one split occurs in another. */
  readonly tasks: {
    readonly train: readonly Task<'train'>[]
    readonly validation: readonly Task<'validation'>[]
    readonly holdout: readonly HoldoutTask[]
  }
}

/** Tasks that share split, tier and wordings. */
interface Lot<S extends Split> {
  readonly split: S
  readonly tier: 'desk' | 'desk reworded'
  readonly wordings: Readonly<Record<RequestKind, Wordings>>
}

/** Draws the tasks of an order desk: the same for the same options, in any process. */
export function loadDesk({
  seed = 0,
  tasks: counts = { train: 1024, validation: 200, holdout: 400, reworded: 200 },
}: DeskOptions = {}): Desk {
  const seen = { tier: 'desk', wordings: seenWordings } as const
  const reworded = { tier: 'desk reworded', wordings: heldOutWordings } as const
  return {
    environment: new DeskEnvironment(),
    tasks: {
      train: drawTasks({ split: 'train', ...seen }, counts.train, seed),
      validation: drawTasks({ split: 'validation', ...seen }, counts.validation, seed),
      holdout: [
        ...drawTasks({ split: 'holdout', ...seen }, counts.holdout, seed),
        ...drawTasks({ split: 'holdout', ...reworded }, counts.reworded, seed),
      ],
    },
  }
}

function drawTasks<S extends Split>(lot: Lot<S>, count: number, seed: number): Task<S>[] {
  const names = namesOf(lot.split)
  const random = rng('desk', seed, lot.split, lot.tier)
  return random.shuffle(Array.from({ length: count }, (_, at) => drawTask(lot, at, names, random)))
}

function drawTask<S extends Split>({ split, tier, wordings }: Lot<S>, at: number, names: Names, random: Rng): Task<S> {
  const wanted = present(deck[at % deck.length], 'a case')
  const { kind } = wanted
  const { id, order, books } = drawCase(wanted, names, random)
  // Every other round of the deck swaps which of its cases name the order, so that none goes with a way of naming it.
  const byOrder = (at + Math.floor(at / deck.length)) % 2 === 0
  const { instruction, wording } = byOrder
    ? say(wordings[kind].byOrder, [id], random)
    : say(wordings[kind].byCustomer, [order.customer, order.item], random)

  const request: DeskRequest = {
    kind,
    names: byOrder ? { order: id } : { customer: order.customer, item: order.item },
  }
  const rule = ruleFor(kind, readOrderLines(orderLines(order)), readItemLines(itemLines(books, order.item)))
  const data: DeskTaskData = { books, right: { act: actBy[rule], order: id }, request, rule }
  return {
    id: TaskId.parse(`desk-${sha256(JSON.stringify([instruction, data])).slice(0, 16)}`),
    instruction,
    data,
    split,
    tier,
    family: [tier, kind, byOrder ? 'by order' : 'by customer', wording].join(' '),
  }
}

/** The words in one of the ways to say it, and which way it was, counted from 1. */
function say<A extends readonly string[]>(
  ways: readonly ((...names: A) => string)[],
  names: A,
  random: Rng,
): { instruction: string; wording: number } {
  const at = random.int(ways.length)
  return { instruction: present(ways[at], 'a wording')(...names), wording: at + 1 }
}
