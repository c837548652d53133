import { z } from 'zod'
import { defineAgent, text, user, weights } from '../../src/agent/index.ts'
import {
  type ChatModel,
  type ChatQuestion,
  type Environment,
  type FinalState,
  type ModelService,
  type ScoredTrajectory,
  sha256,
  type Task,
} from '../../src/core/index.ts'
import { scriptedModel } from './scripted-model.ts'

/** Where a ticket belongs, by the words that it holds. */
const topics: Readonly<Record<string, readonly string[]>> = {
  billing: ['invoice', 'refund', 'charge', 'receipt', 'payment'],
  access: ['password', 'login', 'locked', 'token', 'account'],
  shipping: ['parcel', 'courier', 'delivery', 'address', 'tracking'],
}
const desks = Object.keys(topics)
const fillers = ['please', 'help', 'today', 'again', 'since', 'monday', 'still', 'strange']

export const served = 'Name the desk that a ticket belongs to.'

const pick = <T>(from: readonly T[], ...key: readonly (string | number)[]): T => {
  const index = Number.parseInt(sha256(JSON.stringify(key)).slice(0, 8), 16) % from.length
  const picked = from[index]
  if (picked === undefined) throw new Error('nothing to pick from')
  return picked
}

export const ticketsOf = <S extends Task['split']>(split: S, count: number): readonly Task<S>[] =>
  Array.from({ length: count }, (_, i) => {
    const desk = pick(desks, split, i)
    const words = topics[desk] ?? []
    const said = [0, 1, 2].map((k) => pick(words, split, i, k))
    const noise = [0, 1, 2, 3].map((k) => pick(fillers, split, i, 'noise', k))
    return {
      id: `${split}-${i}` as Task['id'],
      instruction: `ticket ${split} ${i}: ${[...noise.slice(0, 2), ...said, ...noise.slice(2)].join(' ')}`,
      data: { desk },
      split,
    }
  })

const wordsOf = (asked: string) => new Set(asked.split(/\W+/).filter((word) => !fillers.includes(word)))
const overlap = (a: string, b: string) => [...wordsOf(a)].filter((word) => wordsOf(b).has(word)).length

/** Exemplars as a model reads them: anywhere in its prompt. */
const readExemplars = (prompt: string): readonly { readonly asked: string; readonly answered: string }[] =>
  [...prompt.matchAll(/<request>\n(.*?)\n<\/request>\n<answer>\n(.*?)\n<\/answer>/gs)].map(
    ([, asked = '', answered = '']) => ({ asked, answered }),
  )

/** A rule as a text can hold it: `invoice means billing`. */
const ruled = (prompt: string, asked: string): string | undefined => {
  const rules = new Map([...prompt.matchAll(/(\w+) means (\w+)/g)].map(([, word = '', desk = '']) => [word, desk]))
  return [...wordsOf(asked)].map((word) => rules.get(word)).find((desk) => desk !== undefined)
}

/**
 * A policy that truly reads its prompt: it goes by the rules that stand there, then answers as the exemplar with the most words in
 * common does, and guesses without either.
 */
export function answerBy(prompt: string, asked: string): string {
  const known = ruled(prompt, asked)
  if (known !== undefined) return known
  // Every ticket has the word "ticket" in common with every other.
  let best: { readonly answered: string; readonly common: number } = { answered: pick(desks, asked), common: 1 }
  for (const one of readExemplars(prompt)) {
    const common = overlap(one.asked, asked)
    if (common > best.common) best = { answered: one.answered, common }
  }
  return best.answered
}

/** A model whose answers depend on its prompt alone. */
export function ticketModel(): ModelService {
  const { sampler, renderer } = scriptedModel((prompt) => {
    const asked = prompt.slice(prompt.lastIndexOf('user: ') + 6, prompt.lastIndexOf('\nassistant:')).trim()
    return [answerBy(prompt, asked)]
  })
  return {
    base: 'tickets',
    baseHash: 'hash-of-tickets',
    renderer,
    sampler,
    trainer: () => Promise.reject(new Error('a scripted model learns nothing')),
    loadAdapter: () => Promise.reject(new Error('a scripted model has no adapters')),
    close: () => Promise.resolve(),
  }
}

export const ticketDeskOf = (system: string) =>
  defineAgent({
    name: 'ticket-desk',
    parameters: { model: weights({ base: 'tickets' }), system: text(system) },
    run: (task, handles, episode) => handles.model.act([handles.system.message(), user(task.instruction)], episode),
  })
export const ticketDesk = ticketDeskOf(served)

const Ticket = z.object({ desk: z.string() })
const Ended = z.object({ answered: z.string(), wanted: z.string().nullable() })

/** An episode is one ticket. */
export const tickets: Environment = {
  name: 'tickets',
  open({ data }) {
    let answered = ''
    const wanted = Ticket.safeParse(data).data?.desk ?? null
    return {
      opening: [],
      tools: [],
      step(action) {
        answered = action.kind === 'message' ? action.content : ''
        return { messages: [], done: true }
      },
      close: () => ({ state: { answered, wanted }, counts: {} }),
    }
  },
}

/** 1 where the right desk was named. */
export const rightDesk = ({ state }: FinalState): number => {
  const { answered, wanted } = Ended.parse(state)
  return Number(answered.trim() === wanted)
}

/** What a reviewer says of a ticket. */
export const feedbackOnTicket = ({ trajectory }: ScoredTrajectory): string | null =>
  `The desk is ${Ended.parse(trajectory.finalState?.state).wanted}.`

const Material = z.object({
  part: z.string().optional(),
  playbook: z.array(z.object({ text: z.string() })).optional(),
  episodes: z.array(z.object({ asked: z.string(), did: z.string().optional(), feedback: z.string().optional() })),
})

/** A writer in this process: it makes rules of what reviewers say, or of what went well, and writes them as it is asked to. */
export function ruleWriter(): ChatModel & { readonly questions: ChatQuestion[] } {
  const questions: ChatQuestion[] = []
  return {
    name: 'rules',
    questions,
    async ask(question) {
      questions.push(question)
      const { part = '', playbook, episodes } = Material.parse(JSON.parse(question.material))
      const rules = episodes.flatMap(({ asked, did, feedback }) => {
        const desk = /desk is (\w+)/.exec(feedback ?? '')?.[1] ?? did
        const words = [...wordsOf(asked)].filter(
          (word) => /^[a-z]{5,}$/.test(word) && !['ticket', 'train'].includes(word),
        )
        return desk === undefined ? [] : words.map((word) => `${word} means ${desk}`)
      })
      const fresh = [...new Set(rules)].filter((rule) => !question.material.includes(rule))
      const said = playbook ? JSON.stringify({ add: fresh.slice(0, 8) }) : [part, ...fresh].join('\n')
      return { text: `Rules:\n\`\`\`\n${said}\n\`\`\``, whole: true }
    },
  }
}
