import { z } from 'zod'
import { user } from '../../src/agent/index.ts'
import { type Environment, type Message, Task } from '../../src/core/index.ts'
import { call, type Check, type Policy } from '../../src/environment/index.ts'

/** What a world shows: its tools, how it puts what it tells, and what there is in it. */
export interface Front {
  readonly tools: readonly [find: string, read: string, tell: string]
  readonly asks: (thing: string, number: number) => string
  readonly shows: (value: string) => string
  readonly values: Readonly<Record<string, string>>
}
/** Find a thing, read what is said of it, and tell that: the same work in each world, behind other tools and other words. */
export function worldOf({ tools: [find, read, tell], asks, shows, values }: Front) {
  const things = Object.keys(values)
  const tool = (name: string, key: string) => ({
    name,
    description: '',
    parameters: { type: 'object', properties: { [key]: { type: 'string' } }, required: [key] },
  })
  const environment: Environment = {
    name: find,
    open(task) {
      const expected = values[task.data as string]
      let told: string | null = null
      const reply = (name: string, said: string): string => {
        if (name === tell) told = said
        if (name === find) return things.includes(said) ? said : 'none'
        if (name === read) return values[said] === undefined ? 'none' : shows(values[said])
        return 'done'
      }
      return {
        opening: [user(task.instruction)],
        tools: [tool(find, 'thing'), tool(read, 'thing'), tool(tell, 'value')],
        step(action) {
          const calls = action.kind === 'calls' ? action.calls : []
          const messages = calls.map(
            ({ name, arguments: given }): Message => ({
              role: 'tool',
              name,
              content: reply(name, z.string().catch('').parse(Object.values(given)[0])),
            }),
          )
          return { messages, done: told !== null || calls.length === 0 }
        },
        close: () => ({ state: { right: told !== null && told === (expected ?? null) }, counts: {} }),
      }
    },
  }
  const count = { train: 32, validation: 16, holdout: 40 }
  let number = 100
  const tasks = (['train', 'validation', 'holdout'] as const).flatMap((split) =>
    Array.from({ length: count[split] }, (_, i) => {
      const thing = things[i % things.length]!
      return Task.parse({ id: `${split}-${i}`, instruction: asks(thing, number++), data: thing, split, family: 'tell' })
    }),
  )
  const expert: Policy = async (episode, task) => {
    const thing = await call(episode, find, { thing: task.data as string })
    await call(episode, read, { thing })
    await call(episode, tell, { value: values[thing]! })
  }
  return { environment, tasks, expert }
}
/** Whether the right thing was told. */
export const toldRight: Check = ({ state }) => Number((state as { readonly right: boolean }).right)

/** The words of worlds, each a token of a tiny model. */
export const wordsOf = (fronts: readonly Front[]): readonly string[] => [
  ...fronts.flatMap(({ tools, values }) => [...tools, ...Object.keys(values), ...Object.values(values)]),
  'colour',
  'of',
  'food',
  'for',
  'is',
  'none',
  'done',
]

/** Fruits and their colours. */
export const fruit: Front = {
  tools: ['search', 'open', 'answer'],
  asks: (thing, number) => `${number} colour of ${thing}`,
  shows: (value) => `colour ${value}`,
  values: { lemon: 'yellow', cherry: 'red', plum: 'purple', lime: 'green' },
}
/** Animals and what they eat, behind other tools and in other words. */
export const animal: Front = {
  tools: ['find', 'read', 'reply'],
  asks: (thing, number) => `food for ${thing} ${number}`,
  shows: (value) => `${value} is food`,
  values: { cow: 'grass', bear: 'honey', mouse: 'cheese', bird: 'seed' },
}
/** What fruits are, with other things and other values. */
export const flower: Front = { ...fruit, values: { rose: 'pink', lily: 'white', tulip: 'black', daisy: 'grey' } }
