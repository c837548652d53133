import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pagesEnvironment, pagesTask } from '../../../test/support/pages-environment.ts'
import { type Script, scriptedModel } from '../../../test/support/scripted-model.ts'
import {
  branches,
  type Credit,
  GroupId,
  readIn,
  rng,
  type SampleRequest,
  sampledTokens,
  seedOf,
  toolCallsOf,
  Trajectory,
  TrajectoryId,
  VersionId,
} from '../../core/index.ts'
import { defineAgent } from '../agent.ts'
import { backward } from '../backward.ts'
import { choiceKind } from '../choice/index.ts'
import { storedValue, valueIn } from '../kind-value.ts'
import { user, weights } from '../parameters.ts'
import { policySamples } from '../policy-samples.ts'
import { runEpisode } from '../run-episode.ts'
import { context, type ContextOptions } from './context.ts'
import { keepFeatures } from './features.ts'
import { keepPolicy } from './keep-policy.ts'

const budget = { turns: 40, tokens: 10_000, tokensPerTurn: 200, malformedCalls: 9, toolErrors: 99 }
const opened = 'Work through it.'

interface Ran {
  readonly trajectory: Trajectory
  readonly requests: readonly SampleRequest[]
  readonly decode: (tokens: readonly number[]) => string
}

/** Runs one episode over pages in a context. */
async function run(
  script: Script,
  pages: readonly string[],
  options: ContextOptions & { readonly learned?: boolean } = {},
  contextLength = 100_000,
): Promise<Ran> {
  const { learned = false, ...given } = options
  const model = scriptedModel(script, { contextLength })
  const keep = keepPolicy({ explore: 1 })
  const agent = defineAgent({
    name: 'reader',
    parameters: { model: weights({ base: 'scripted' }), keep },
    run: (task, handles, episode) =>
      handles.model.act([user(task.instruction), user(opened)], episode, {
        context: context({ ...given, ...(learned && { keep: handles.keep }) }),
      }),
  })
  const inForce = { version: VersionId.parse('k0'), generation: 1, checkpoint: null }
  const value = valueIn(
    'keep',
    choiceKind,
    storedValue(
      'keep',
      choiceKind,
      keep.initial(() => ''),
    ),
  )
  const trajectory = await runEpisode({
    id: TrajectoryId.parse('e0'),
    agent,
    environment: pagesEnvironment,
    task: pagesTask(pages),
    group: GroupId.parse('g'),
    attempt: 0,
    seed: 1,
    bindings: { model: model.binding({ budget }), keep: { kind: 'choice', inForce, value, rng: rng('keep') } },
    now: () => 0,
  })
  return { trajectory, requests: model.requests, decode: (tokens) => model.renderer.decode(tokens) }
}

const words = (count: number, word = 'word') => Array.from({ length: count }, (_, i) => `${word}${i}`).join(' ')

/** Says one thing after the other, whatever it reads. */
const saying = (lines: readonly string[]): Script => {
  let at = 0
  return () => [lines[at++] ?? '!finish {}']
}
const opens = (count: number) => Array.from({ length: count }, (_, i) => `!open {"page":${i}}`)

describe('a context that fits', () => {
  it('is what it is without a manager, but for the tool that is offered', async () => {
    const pages = Array.from({ length: 5 }, () => words(20))
    const managed = await run(saying(opens(5)), pages, { readBack: false })
    expect(branches(managed.trajectory).length).toBe(1)
    const plain = await run(saying(opens(5)), pages, { readBack: false, budget: 50_000 })
    expect(managed.requests.map(({ prompt }) => prompt)).toEqual(plain.requests.map(({ prompt }) => prompt))
  })
})

describe('a context that does not', () => {
  const pages = Array.from({ length: 12 }, (_, i) => words(60, `p${i}w`))

  it('is folded in steps: a prompt is the beginning of the next one, but for a few', async () => {
    // Twelve pages take about 1,700 tokens.
    const { requests, trajectory } = await run(saying(opens(12)), pages, { budget: 900 })
    const extended = requests.slice(1).filter(({ prompt }, i) => {
      const before = requests[i]?.prompt ?? []
      return before.every((token, k) => prompt[k] === token)
    })
    expect(requests.length).toBe(13)
    expect(extended.length).toBeGreaterThanOrEqual(9)
    expect(extended.length).toBeLessThan(12)
    expect(branches(trajectory).length).toBe(requests.length - extended.length)
    expect(trajectory.stopReason).toBe('done')
  })

  it('says what stands no more, and shows it again word for word', async () => {
    const { requests, trajectory, decode } = await run(saying([...opens(12), '!read_back {"id":"r1"}']), pages, {
      budget: 700,
      forms: ['stub'],
    })
    const last = decode(requests.at(-2)?.prompt ?? [])
    expect(last).toMatch(/\[\d+ characters of r1 left out; read_back r1 shows them\]/)
    expect(last).not.toContain(pages[0])
    expect(decode(requests.at(-1)?.prompt ?? [])).toContain(pages[0])
    // What was read back is not the environment's doing.
    expect(trajectory.finalState?.state).toEqual({ finished: true })
  })

  it('keeps in full, on the branch that ended there, what it folds', async () => {
    const { trajectory } = await run(saying(opens(12)), pages, { budget: 500 })
    for (const { observations } of trajectory.steps.slice(0, 12)) {
      const [observed] = observations.map((id) => trajectory.nodes.find((node) => node.id === id))
      expect(observations.length).toBe(1)
      expect(pages).toContain(observed?.message.content)
    }
  })

  it('ends the episode where what has to stay is too much', async () => {
    const { trajectory } = await run(saying(opens(2)), [words(400), words(5)], { budget: 100, forms: ['dropped'] })
    expect(trajectory.stopReason).toBe('context-length')
    expect(trajectory.steps.length).toBe(1)
    const none = await run(saying(opens(2)), pages, { budget: 3 })
    expect([none.trajectory.stopReason, none.trajectory.steps.length]).toEqual(['context-length', 0])
  })

  it('takes its budget from the model, where none is given', async () => {
    const { requests, trajectory } = await run(saying(opens(12)), pages, {}, 700)
    expect(trajectory.stopReason).toBe('done')
    expect(Math.max(...requests.map(({ prompt }) => prompt.length))).toBeLessThanOrEqual(700 - budget.tokensPerTurn)
  })

  it('decides what stays by its policy, with propensities, and is credited for it', async () => {
    const { trajectory } = await run(saying(opens(12)), pages, { budget: 500, learned: true })
    const decided = trajectory.decisions.filter(({ parameter }) => parameter === 'keep')
    expect(decided.length).toBeGreaterThan(5)
    for (const { propensity } of decided) expect(propensity.log).toBeCloseTo(Math.log(1 / 3), 9)
    const credits = decided.map(
      ({ id }): Credit => ({ trajectory: trajectory.id, decision: id, advantage: 0.5, utility: 1 }),
    )
    const rule = {
      kind: 'choice',
      deposit: (of: Trajectory, made: Parameters<typeof policySamples.deposit>[1]) =>
        choiceKind.deposit(
          made.map((one) => ({ ...one, made: choiceKind.made.parse(one.decision.made) })),
          of,
        ),
    }
    const [gradient] = backward({ trajectories: [trajectory], credits }, { parameter: 'keep', rule })
    expect(gradient?.deposits.length).toBe(decided.length)
    for (const { features } of gradient?.deposits ?? []) {
      expect(features.length).toBe(keepFeatures)
      for (const feature of features) expect(Math.abs(feature)).toBeLessThanOrEqual(1)
    }
    // Every later word of the policy descends from what was decided before it.
    const last = trajectory.decisions.filter(({ kind }) => kind === 'weights').at(-1)
    expect(last?.inputs).toContainEqual({ decision: decided.at(-1)?.id })
  })
})

describe('of any episode', () => {
  const episodes = fc.record({
    seed: fc.nat(),
    sizes: fc.array(fc.nat(120), { minLength: 1, maxLength: 6 }),
    budget: fc.integer({ min: 60, max: 600 }),
    low: fc.double({ min: 0, max: 0.9, noNaN: true }),
    keepTurns: fc.integer({ min: 1, max: 3 }),
    excerpt: fc.integer({ min: 16, max: 300 }),
    forms: fc.subarray(['excerpt', 'stub', 'dropped'] as const),
    readBack: fc.boolean(),
    learned: fc.boolean(),
  })
  /** Calls of any sort, several in one turn, with ids and without; broken ones, talk, and turns that are cut off. */
  const anything =
    (seed: number, pages: number): Script =>
    (prompt) => {
      const random = rng('says', seed, seedOf(prompt))
      const call = () =>
        [
          `!open {"page":${random.int(pages)}}`,
          `!read_back {"id":"r${1 + random.int(6)}"}`,
          `!read_back {"id":"r1","from":${random.int(300)}}`,
          '!open {broken',
          'just talk',
        ][random.int(5)] ?? ''
      const calls = Array.from({ length: 1 + random.int(3) }, call)
      return [random.int(12) === 0 ? '!finish {}' : calls.join('\n'), words(random.int(2) === 0 ? 300 : 2)].slice(
        0,
        random.int(10) === 0 ? 2 : 1,
      )
    }

  it('each call’s record is, token by token, what the model read; and every sampled token is learned from once', async () => {
    await fc.assert(
      fc.asyncProperty(episodes, async ({ seed, sizes, ...options }) => {
        const pages = sizes.map((size, i) => words(size, `p${i}w`))
        const { trajectory, requests } = await run(anything(seed, pages.length), pages, options)
        expect(Trajectory.parse(trajectory)).toEqual(trajectory)
        expect(trajectory.steps.map((step) => readIn(trajectory, step).tokens)).toEqual(
          requests.map(({ prompt }) => prompt),
        )
        for (const { prompt } of requests) expect(prompt.length).toBeLessThanOrEqual(options.budget)

        const decided = trajectory.decisions.filter(({ kind }) => kind === 'weights')
        const samples = policySamples.deposit(
          trajectory,
          decided.map((decision) => ({
            decision,
            credit: { trajectory: trajectory.id, decision: decision.id, advantage: 1 },
          })),
        )
        const learned = samples.reduce((sum, { sampled }) => sum + sampled.filter(Boolean).length, 0)
        expect(learned).toBe(sampledTokens(trajectory))

        const again = await run(anything(seed, pages.length), pages, options)
        expect(again.trajectory).toEqual(trajectory)
      }),
      { numRuns: 30 },
    )
  }, 60_000)

  it('calls and results are pairs in whatever the model reads', async () => {
    await fc.assert(
      fc.asyncProperty(episodes, async ({ seed, sizes, ...options }) => {
        const pages = sizes.map((size, i) => words(size, `p${i}w`))
        const { trajectory } = await run(anything(seed, pages.length), pages, options)
        for (const step of trajectory.steps) {
          const { messages } = readIn(trajectory, step)
          for (const [i, message] of messages.entries()) {
            const calls = toolCallsOf(message)
            const broken = message.role === 'assistant' ? (message.malformedCalls ?? []) : []
            const named = broken.length > 0 ? broken.map(() => 'call') : calls.map(({ name }) => name)
            const results = messages.slice(i + 1, i + 1 + named.length)
            expect(results.map((result) => result.role === 'tool' && result.name)).toEqual(named)
          }
          expect(messages.slice(0, 2).map(({ content }) => content)).toEqual(['Read the pages.', opened])
        }
      }),
      { numRuns: 30 },
    )
  }, 60_000)
})
