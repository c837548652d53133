import { describe, expect, it } from 'vitest'
import { scriptedModel } from '../../test/support/scripted-model.ts'
import { wordEnvironment, wordTask } from '../../test/support/word-environment.ts'
import { GroupId, type Message, Trajectory, TrajectoryId, VersionId, rng } from '../core/index.ts'
import { type Agent, defineAgent } from './agent.ts'
import { text, user, weights } from './parameters.ts'
import { runEpisode } from './run-episode.ts'

const parameters = { model: weights({ base: 'scripted' }), hint: text('') }

/** Runs a program and gives back, for each policy call, the prompt's last line and what else than its branch it read. */
async function linksOf(run: (...its: Parameters<Agent<typeof parameters>['run']>) => Promise<unknown>) {
  const model = scriptedModel((prompt) => [prompt.includes('user: plan') ? '1. peel the plum\n2. eat' : 'done'])
  const trajectory = await runEpisode({
    id: TrajectoryId.parse('e0'),
    agent: defineAgent({
      name: 'agent',
      parameters,
      async run(...its) {
        await run(...its)
        return { stopReason: 'done', message: null }
      },
    }),
    environment: wordEnvironment,
    task: wordTask('t', 'plum'),
    group: GroupId.parse('g'),
    attempt: 0,
    seed: 1,
    bindings: {
      model: model.binding(),
      hint: {
        kind: 'text',
        value: { text: 'Be brief.\nBe kind.' },
        rng: rng('hint'),
        inForce: { version: VersionId.parse('h1'), generation: 1, checkpoint: null },
      },
    },
    now: () => 0,
  })
  expect(Trajectory.parse(trajectory)).toEqual(trajectory)
  expect(trajectory).toMatchObject({ stopReason: 'done', failure: null })
  const { decisions, nodes, steps } = trajectory
  const calls = decisions.filter(({ kind }) => kind === 'weights')
  for (const { inputs } of calls) expect(inputs.filter((input) => typeof input === 'string').length).toBe(1)
  return {
    trajectory,
    texts: decisions.filter(({ kind }) => kind === 'text'),
    links: calls.map(({ inputs }) => inputs.flatMap((input) => (typeof input === 'string' ? [] : [input.decision]))),
    lastRead: calls.map(({ inputs }) => nodes.find(({ id }) => id === inputs[0])?.message.content),
    decided: steps.map(({ decisions: made }) => made),
  }
}

describe('a message is known again', () => {
  it.each<[string, (message: Message) => Message]>([
    ['as it is', (message) => message],
    ['spread', (message) => ({ ...message })],
    ['cloned', (message) => structuredClone(message)],
    ['sent through JSON', (message) => JSON.parse(JSON.stringify(message)) as Message],
  ])('%s', async (_, copy) => {
    const { texts, links, decided } = await linksOf((__, { model, hint }) =>
      model.complete([copy(hint.message()), user('Go on.')]),
    )
    expect(texts).toMatchObject([{ id: 'd0', parameter: 'hint', version: 'h1', output: 'n0' }])
    // It is on the branch that the call read: the branch's last node says so.
    expect(links).toEqual([[]])
    expect(decided).toEqual([['d0', 'd1']])
  })

  it.each<[string, (content: string) => string]>([
    ['quoted whole', (content) => `Rules:\n${content}\nThat is all.`],
    ['quoted by a line', (content) => `Rule: ${content.split('\n')[1]}`],
  ])('%s, with a link, since the message holds more', async (_, quote) => {
    const { texts, links } = await linksOf((__, { model, hint }) =>
      model.complete([user(quote(hint.message().content))]),
    )
    expect(texts).toMatchObject([{ id: 'd0', output: null }])
    expect(links).toEqual([['d0']])
  })

  it('not by a part of a word', async () => {
    const { links } = await linksOf(async (_, { model }) => {
      await model.complete([user('plan')])
      await model.complete([user('eating is beaten; eat it')])
      await model.complete([user('eating is beaten')])
    })
    expect(links).toEqual([[], ['d0'], []])
  })
})

it('one message in two branches is one Decision, which both have read', async () => {
  const { texts, links, decided } = await linksOf(async (_, { model, hint }) => {
    const shared = hint.message()
    await model.complete([user('north'), shared])
    await model.complete([user('south'), shared])
    await model.complete([{ ...shared }, user('west')])
  })
  expect(texts.length).toBe(1)
  expect(links).toEqual([[], ['d0'], ['d0']])
  expect(decided).toEqual([['d0', 'd1'], ['d2'], ['d3']])
})

describe('what was said in another branch is linked', () => {
  it('where a message holds it, quotes it or one of its lines', async () => {
    const { links } = await linksOf(async (_, { model }) => {
      const plan = await model.complete([user('plan')])
      await model.complete([user('Go'), { role: 'assistant', content: plan }, user('Sure?')])
      await model.complete([user(`Now: ${plan.split('\n')[0]?.replace('1. ', '')}, now`)])
      await model.complete([user('Something else, to eat or peel the pear')])
    })
    // "eat" is a line of the plan: equal words are taken for a quotation.
    expect(links).toEqual([[], ['d0'], ['d0'], ['d0']])
  })

  it('once in a conversation, and not where the branch has it', async () => {
    const { links } = await linksOf(async (_, { model }, episode) => {
      const plan = await model.complete([user('plan')])
      await model.act([user(`Go on: ${plan}`)], episode)
    })
    expect(links).toEqual([[], ['d0'], [], [], [], [], [], []])
  })
})

describe('a text that was read as a string', () => {
  it('is one Decision, which every later call has read, each conversation once', async () => {
    const { texts, links, decided } = await linksOf(async (_, { model, hint }, episode) => {
      await model.complete([user('before')])
      const shortest = Math.min(hint.value.length, hint.value.length)
      await Promise.all(['a', 'b'].map((which) => model.complete([user(`${which} ${shortest}`)])))
      await model.act([user('c')], episode)
    })
    expect(texts).toMatchObject([{ id: 'd1', parameter: 'hint', output: null, inputs: [] }])
    expect(links).toEqual([[], ['d1'], ['d1'], ['d1'], [], [], [], []])
    expect(decided.slice(0, 4)).toEqual([['d0'], ['d1', 'd2'], ['d3'], ['d4']])
  })

  it('is the Decision of the message where one was read before', async () => {
    const { texts, links } = await linksOf(async (_, { model, hint }) => {
      await model.complete([hint.message(), user('a')])
      await model.complete([user(`b ${hint.value.length}`)])
    })
    expect(texts.length).toBe(1)
    expect(links).toEqual([[], ['d0']])
  })
})
