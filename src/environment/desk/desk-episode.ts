import {
  type Action,
  type Episode,
  type FinalState,
  type Message,
  printable,
  type StepOutcome,
  type Task,
  type ToolCall,
} from '../../core/index.ts'
import { entry } from '../entry.ts'
import { type Reply, replyMessage } from '../reply.ts'
import { type DeskAct, type DeskBooks, carryOut } from './books.ts'
import type { DeskFinalState } from './task-data.ts'
import { deskTools, isAct, isDeskTool, readDeskArgument } from './tools.ts'
import { customerLines, itemLines, orderLines } from './views.ts'

/** What one episode keeps count of; `errors` is the sum of the wrong calls. */
const noCounts = {
  /** Looks that showed something. */
  looks: 0,
  /** Acts that changed the books. */
  acts: 0,
  /** Turns without a call. */
  talk: 0,
  unknownTool: 0,
  badArguments: 0,
  notFound: 0,
  notRead: 0,
  afterEnd: 0,
  errors: 0,
}
type Count = keyof typeof noCounts
type Mistake = 'unknownTool' | 'badArguments' | 'notFound' | 'notRead' | 'afterEnd'

/**
 * One message at the desk. Looks show the books as they are now; acts change them, right or wrong, on orders that were
 * looked at before; `done` ends the episode. Whatever cannot be done comes back as an observation that says what to do
 * instead; whether an act was right is never told.
 */
export class DeskEpisode implements Episode {
  readonly tools = deskTools
  readonly opening: readonly Message[]
  readonly #task: Task
  readonly #expected: DeskBooks
  readonly #counts: Record<Count, number> = { ...noCounts }
  readonly #read: Set<string>
  #books: DeskBooks
  #ended = false

  /**
   * @param expected the books as they should be in the end.
   * @param read ids of the orders that were looked at.
   */
  constructor(task: Task, books: DeskBooks, expected: DeskBooks, read: Iterable<string> = []) {
    this.#task = task
    this.#books = books
    this.#expected = expected
    this.#read = new Set(read)
    this.opening = [{ role: 'user', content: task.instruction }]
  }

  step(action: Action): StepOutcome {
    if (action.kind === 'calls' && action.calls.length > 0) {
      const messages = action.calls.map((call) => replyMessage(call, this.#reply(call)))
      return { messages, done: this.#ended }
    }
    this.#counts.talk++
    return { messages: [{ role: 'user', content: 'Call a tool, or done.' }], done: this.#ended }
  }

  close(): FinalState {
    const state: DeskFinalState = {
      task: this.#task.id,
      ended: this.#ended,
      books: this.#books,
      expected: this.#expected,
    }
    return { state, counts: { ...this.#counts } }
  }

  fork(): DeskEpisode {
    const copy = new DeskEpisode(this.#task, this.#books, this.#expected, this.#read)
    Object.assign(copy.#counts, this.#counts)
    copy.#ended = this.#ended
    return copy
  }

  #reply({ name, arguments: given }: ToolCall): Reply {
    if (this.#ended) return this.#mistake('afterEnd', 'the episode is over')
    if (!isDeskTool(name)) {
      const known = deskTools.map((tool) => tool.name).join(', ')
      return this.#mistake('unknownTool', `no tool "${printable(name)}": use one of ${known}`)
    }
    const argument = readDeskArgument(name, given)
    if ('problem' in argument) return this.#mistake('badArguments', argument.problem)
    if (isAct(name)) return this.#act(name, argument.text)
    switch (name) {
      case 'customer':
        return this.#look('customer', argument.text, customerLines(this.#books, argument.text))
      case 'order':
        return this.#order(argument.text)
      case 'item':
        return this.#look('item', argument.text, itemLines(this.#books, argument.text))
      case 'done':
        this.#ended = true
        return { content: 'closed' }
    }
  }

  #order(id: string): Reply {
    const order = entry(this.#books.orders, id)
    if (order !== undefined) this.#read.add(id)
    return this.#look('order', id, order === undefined ? '' : orderLines(order))
  }

  #act(act: DeskAct, id: string): Reply {
    // The same words whether such an order exists or not: an error never says what a look would have to find.
    if (!this.#read.has(id)) return this.#mistake('notRead', `order "${printable(id)}" not read: call order first`)
    this.#counts.acts++
    this.#books = carryOut(act, id, this.#books)
    return { content: 'ok' }
  }

  /** @param lines what there is to show; empty where the desk does not know the name. */
  #look(what: 'customer' | 'order' | 'item', name: string, lines: string): Reply {
    if (lines === '') {
      return this.#mistake('notFound', `no ${what} "${printable(name)}": ${whereToFind[what]}`)
    }
    this.#counts.looks++
    return { content: lines }
  }

  #mistake(kind: Mistake, content: string): Reply {
    this.#counts[kind]++
    this.#counts.errors++
    return { content, isError: true }
  }
}

const whereToFind = {
  customer: 'take the name from the message',
  order: 'take the id from the message or from customer',
  item: 'take the name from order',
} as const
