import { z } from 'zod'
import { defineAgent, parameter } from '../../src/agent/index.ts'
import type { Environment, Kind, Optimizer, Task } from '../../src/core/index.ts'

/** Preferences of options: the chance of one grows with its preference. */
export const Choice = z.strictObject({ options: z.array(z.string()).min(2), preferences: z.array(z.number()) })
export type Choice = z.infer<typeof Choice>

const Made = z.strictObject({ chosen: z.int(), chances: z.array(z.number()) })
type Made = z.infer<typeof Made>

/** What one decision deposits. */
export type Chosen = Made & { readonly advantage: number }

export const chancesOf = (preferences: readonly number[]): readonly number[] => {
  const weights = preferences.map((preference) => Math.exp(preference))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  return weights.map((weight) => weight / total)
}

/** A kind as a user writes it: options are chosen by their preferences. */
export const choice: Kind<'choice', Choice, Made, { choose(): string }, Chosen> = {
  kind: 'choice',
  value: Choice,
  made: Made,
  handle: ({ value: { options, preferences }, rng }, recorder) => ({
    choose() {
      const chances = [...chancesOf(preferences)]
      let left = rng.next()
      const chosen = Math.max(
        0,
        chances.findIndex((chance) => (left -= chance) < 0),
      )
      recorder.decide({ made: { chosen, chances }, propensity: { log: Math.log(chances[chosen] ?? 1) } })
      return options[chosen] ?? ''
    },
  }),
  deposit: (decided) =>
    decided.flatMap(({ made, credit: { advantage } }) => (advantage === null ? [] : [{ ...made, advantage }])),
}

/** REINFORCE on preferences. */
export const reinforce = (
  learningRate = 4,
  changes: Partial<Awaited<ReturnType<Optimizer<typeof choice>['open']>>> = {},
): Optimizer<typeof choice> => ({
  name: 'reinforce',
  kind: 'choice',
  async open({ value }, saved) {
    let preferences = saved ? z.array(z.number()).parse(saved.state) : value.preferences
    const now = async () => ({ ...value, preferences: [...preferences] })
    return {
      bound: now,
      propose: now,
      save: async () => ({ state: preferences }),
      async step(deposits) {
        const gradientOf = (option: number) =>
          deposits.reduce(
            (sum, { chosen, chances, advantage }) =>
              sum + (advantage * ((chosen === option ? 1 : 0) - (chances[option] ?? 0))) / deposits.length,
            0,
          )
        preferences = preferences.map((preference, option) => preference + learningRate * gradientOf(option))
        return { surest: Math.max(...chancesOf(preferences)) }
      },
      ...changes,
    }
  },
})

/** What `choice` begins with where a test says nothing else. */
export const even: Choice = { options: ['sales', 'refunds'], preferences: [0, 0] }

/** Asks one of two desks, of which `refunds` is right. It has no weights. */
export const frontDesk = defineAgent({
  name: 'front-desk',
  parameters: { route: parameter(choice, even) },
  async run(_task, { route }, episode) {
    await episode.step({ kind: 'message', content: route.choose() })
    return { stopReason: 'done', message: null }
  },
})

/** An episode is one question to one desk. */
export const desks: Environment = {
  name: 'desks',
  open() {
    let asked: string | null = null
    return {
      opening: [],
      tools: [],
      step(action) {
        asked = action.kind === 'message' ? action.content : null
        return { messages: [], done: true }
      },
      close: () => ({ state: { asked }, counts: {} }),
    }
  },
}

/** 1 when the right desk was asked. */
export const askedRight = ({ state }: { readonly state: unknown }): number =>
  Number((state as { readonly asked: string | null }).asked === 'refunds')

const tasksOf = (split: Task['split'], count: number): readonly Task[] =>
  Array.from({ length: count }, (_, i) => ({
    id: `${split}-${i}` as Task['id'],
    instruction: `I want my money back for order ${i}.`,
    data: {},
    split,
  }))

export const deskTasks = [...tasksOf('train', 16), ...tasksOf('validation', 20), ...tasksOf('holdout', 40)]
