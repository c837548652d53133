import { z } from 'zod'
import { defineAgent, text, user, weights } from '../../src/agent/index.ts'
import { type Environment, type FinalState, type ModelService, sha256, type Task } from '../../src/core/index.ts'
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

/** A policy that truly reads its prompt: it answers as the exemplar with the most words in common does, and guesses without one. */
export function answerBy(prompt: string, asked: string): string {
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

export const ticketDesk = defineAgent({
  name: 'ticket-desk',
  parameters: { model: weights({ base: 'tickets' }), system: text(served) },
  run: (task, { model, system }, episode) => model.act([system.message(), user(task.instruction)], episode),
})

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
