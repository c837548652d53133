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
import { type Reply, replyMessage } from '../reply.ts'
import type { Corpus } from './corpus.ts'
import type { SearchFinalState } from './task-data.ts'
import { isToolName, readArgument, searchTools } from './tools.ts'

/** What one episode keeps count of; `errors` is the sum of the wrong calls. */
const noCounts = {
  search: 0,
  open: 0,
  answer: 0,
  /** Searches that nothing matched: no mistake. */
  emptySearch: 0,
  /** Turns without a call. */
  talk: 0,
  unknownTool: 0,
  badArguments: 0,
  notListed: 0,
  afterEnd: 0,
  errors: 0,
}
type Count = keyof typeof noCounts
type Mistake = 'unknownTool' | 'badArguments' | 'notListed' | 'afterEnd'

/**
 * One question asked of one corpus. Search lists titles, open shows a document that an earlier search of this episode
 * listed, answer ends it. Whatever the policy does wrong comes back as an observation that says what to do instead.
 */
export class SearchEpisode implements Episode {
  readonly tools = searchTools
  readonly opening: readonly Message[]
  readonly #corpus: Corpus
  readonly #task: Task
  readonly #accepted: readonly string[]
  readonly #counts: Record<Count, number> = { ...noCounts }
  readonly #listed: Set<string>
  #answer: string | null = null

  constructor(corpus: Corpus, task: Task, accepted: readonly string[], listed: Iterable<string> = []) {
    this.#corpus = corpus
    this.#task = task
    this.#accepted = accepted
    this.#listed = new Set(listed)
    this.opening = [{ role: 'user', content: task.instruction }]
  }

  step(action: Action): StepOutcome {
    if (action.kind === 'calls' && action.calls.length > 0) {
      const messages = action.calls.map((call) => replyMessage(call, this.#reply(call)))
      return { messages, done: this.#answer !== null }
    }
    this.#counts.talk++
    return { messages: [{ role: 'user', content: 'Call search, open or answer.' }], done: this.#answer !== null }
  }

  close(): FinalState {
    const state: SearchFinalState = { task: this.#task.id, answer: this.#answer, accepted: [...this.#accepted] }
    return { state, counts: { ...this.#counts } }
  }

  fork(): SearchEpisode {
    const copy = new SearchEpisode(this.#corpus, this.#task, this.#accepted, this.#listed)
    Object.assign(copy.#counts, this.#counts)
    copy.#answer = this.#answer
    return copy
  }

  #reply({ name, arguments: given }: ToolCall): Reply {
    if (this.#answer !== null) return this.#mistake('afterEnd', 'the episode is over')
    if (!isToolName(name)) {
      return this.#mistake('unknownTool', `no tool "${printable(name)}": use search, open or answer`)
    }
    const argument = readArgument(name, given)
    if ('problem' in argument) return this.#mistake('badArguments', argument.problem)
    switch (name) {
      case 'search':
        return this.#search(argument.text)
      case 'open':
        return this.#open(argument.text)
      case 'answer':
        this.#counts.answer++
        this.#answer = argument.text
        return { content: 'answered' }
    }
  }

  #search(query: string): Reply {
    this.#counts.search++
    const titles = this.#corpus.search(query)
    for (const title of titles) this.#listed.add(title)
    if (titles.length > 0) return { content: titles.join('\n') }
    this.#counts.emptySearch++
    return { content: 'nothing found: try other words' }
  }

  #open(title: string): Reply {
    // The same words whether such a document exists or not: an error never says what a search would have to find.
    const document = this.#listed.has(title) ? this.#corpus.document(title) : undefined
    if (document === undefined) return this.#mistake('notListed', `no document "${printable(title)}": search first`)
    this.#counts.open++
    return { content: document.lines.join('\n') }
  }

  #mistake(kind: Mistake, content: string): Reply {
    this.#counts[kind]++
    this.#counts.errors++
    return { content, isError: true }
  }
}
