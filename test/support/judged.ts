import { type ChatModel, type ChatQuestion, NodeId, type Trajectory } from '../../src/core/index.ts'
import { InputError } from '../../src/errors/index.ts'
import { trajectoryOf } from './trajectories.ts'

/** An episode of one answer. */
export function answering(content: string, { id = 't0', asked = 'Which is it?' } = {}): Trajectory {
  return trajectoryOf({
    id,
    nodes: [
      { id: 'q', message: { role: 'user', content: asked } },
      { id: 'a', parent: 'q', message: { role: 'assistant', content } },
    ],
  })
}

/** An episode of turns and what followed each; each pair is a Step. */
export function turns(pairs: readonly (readonly [said: string, next: string | null])[]): Trajectory {
  let parent = 'q'
  const nodes = pairs.flatMap(([said, next], i) => {
    const own = { id: `a${i}`, parent, message: { role: 'assistant', content: said } as const }
    parent = `u${i}`
    return next === null
      ? [own]
      : [own, { id: parent, parent: `a${i}`, message: { role: 'user', content: next } as const }]
  })
  return {
    ...trajectoryOf({ nodes: [{ id: 'q', message: { role: 'user', content: 'Hello.' } }, ...nodes] }),
    steps: pairs.map((_, index) => ({ index, action: NodeId.parse(`a${index}`), observations: [], decisions: [] })),
  }
}

/** A model that answers by rule, and keeps what it was asked; `null` is a failure, `undefined` an answer that was cut off. */
export function answeringModel(answer: (question: ChatQuestion, count: number) => string | null | undefined) {
  const asked: ChatQuestion[] = []
  const model: ChatModel = {
    name: 'scripted',
    ask(question) {
      asked.push(question)
      const text = answer(question, asked.length - 1)
      if (text === null) {
        return Promise.reject(new InputError({ code: 'test/down', message: 'It is down.', hint: 'Wait.' }))
      }
      return Promise.resolve({ text: text ?? 'cut', whole: text !== undefined })
    },
  }
  return { model, asked }
}

/** The JSON lines of a question: what stands between marks. */
export const dataOf = ({ material }: ChatQuestion): readonly string[] =>
  material.split('\n').filter((line) => !line.startsWith('<'))
