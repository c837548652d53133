import { type Action, type Environment, type Episode, type Message, type Split, Task } from '../../src/core/index.ts'

/** A task of {@link wordEnvironment}: find out the secret word, then answer with it. */
export function wordTask(id: string, secret: string, split: Split = 'train'): Task {
  return Task.parse({ id, instruction: `What is the word of ${id}?`, data: { secret }, split })
}

class WordEpisode implements Episode {
  readonly opening: readonly Message[]
  readonly tools = [
    { name: 'look', description: 'Shows the word.', parameters: {} },
    { name: 'answer', description: 'Answers.', parameters: {} },
  ]
  readonly #secret: string
  #answer: string | null = null
  #looks = 0

  constructor(task: Task) {
    this.opening = [{ role: 'user', content: task.instruction }]
    this.#secret = (task.data as { readonly secret: string }).secret
  }

  step(action: Action) {
    if (action.kind === 'message') {
      return { messages: [{ role: 'user' as const, content: 'Call look or answer.' }], done: false }
    }
    const messages = action.calls.map(({ name, arguments: given }): Message => {
      if (name === 'look') {
        this.#looks++
        return { role: 'tool', name, content: `the word is ${this.#secret}` }
      }
      if (name !== 'answer') return { role: 'tool', name, content: `no tool ${name}`, isError: true }
      this.#answer = typeof given.word === 'string' ? given.word : null
      return { role: 'tool', name, content: 'answered' }
    })
    return { messages, done: this.#answer !== null }
  }

  close() {
    return { state: { answer: this.#answer, secret: this.#secret }, counts: { look: this.#looks } }
  }
}

/** Tools `look` and `answer {"word"}`: the smallest environment in which something has to be read before it is said. */
export const wordEnvironment: Environment = { name: 'word', open: (task) => new WordEpisode(task) }

/** 1 when the right word was answered. */
export function answeredRight({ state }: { readonly state: unknown }): number {
  const { answer, secret } = state as { readonly answer: string | null; readonly secret: string }
  return answer === secret ? 1 : 0
}
