import { describe, expect, it } from 'vitest'
import { attempt } from '../../../test/support/attempt.ts'
import { wordEnvironment } from '../../../test/support/word-environment.ts'
import type { Environment, ToolDefinition } from '../../core/index.ts'
import { lexicalEmbedder } from '../memory/index.ts'
import { defineAgent } from '../agent.ts'
import { user, weights } from '../parameters.ts'
import { context } from './context.ts'
import { ToolIndex } from './tool-index.ts'
import { offerOf } from './tool-offer.ts'

const tool = (name: string, description: string, ...taken: readonly string[]): ToolDefinition => ({
  name,
  description,
  parameters: { type: 'object', properties: Object.fromEntries(taken.map((one) => [one, { type: 'string' }])) },
})
const tools = [
  tool('create_invoice', 'Writes a bill for a customer.', 'amount'),
  tool('send_parcel', 'Ships goods to an address.', 'address'),
  tool('bookFlight', 'Reserves a seat on an airline.', 'airport'),
  tool('translate', 'Puts a text into another language.', 'language'),
  tool('weather.report', 'Tells the forecast of a city.', 'city'),
]
const namesOf = (of: readonly ToolDefinition[]) => of.map(({ name }) => name)
const offer = (asked: string, change: { offer?: number; always?: readonly string[] } = {}) =>
  offerOf(tools, [user(asked)], { offer: 1, always: [], ...change }, lexicalEmbedder())

describe('an index of tools', () => {
  const best = async (query: string, count = 1) =>
    namesOf(await new ToolIndex(tools, lexicalEmbedder()).best(query, count))

  it('finds a tool by the words of its name, of its description, and of what it takes', async () => {
    expect(await best('an invoice, please')).toEqual(['create_invoice'])
    expect(await best('a flight to Rome')).toEqual(['bookFlight'])
    expect(await best('what is the forecast?')).toEqual(['weather.report'])
    expect(await best('which airport')).toEqual(['bookFlight'])
  })

  it('finds what one sentence of many is about', async () => {
    const long = Array.from({ length: 10 }, (_, i) => `We had a long talk about matter ${i} with the board.`)
    expect(await best([...long, 'Then translate it.'].join(' '))).toEqual(['translate'])
  })

  it('prefers nothing where nothing fits, and gives no more than there is', async () => {
    expect(await best('', 2)).toEqual(['create_invoice', 'send_parcel'])
    expect((await best('invoice', 99)).length).toBe(5)
  })
})

describe('among hundreds of tools', () => {
  const verbs = ['create', 'delete', 'list', 'approve', 'export', 'assign', 'schedule', 'archive', 'compare', 'print']
  const nouns =
    'invoice shipment employee vacation vehicle contract warehouse ticket campaign meeting password server repository supplier refund discount subscription document photo payroll expense reservation survey budget certificate complaint inventory customer apartment device'
  const many = nouns.split(' ').flatMap((noun) => verbs.map((verb) => tool(`${verb}_${noun}`, `${verb}s one ${noun}`)))

  it('the one that is asked for in its own words is offered, of 300, for each of them', async () => {
    const embedder = lexicalEmbedder()
    const missed: string[] = []
    for (const { name } of many) {
      const [verb, noun] = name.split('_')
      const asked = [user(`Hello. Please ${verb} the ${noun} of last week for me.`)]
      const { offered } = await offerOf(many, asked, { offer: 8, always: [] }, embedder)
      expect(offered.length).toBe(8)
      if (!offered.some((one) => one.name === name)) missed.push(name)
    }
    expect([many.length, missed]).toEqual([300, []])
  })
})

describe('what is offered', () => {
  it('is what fits, and what is always offered, in the order of the episode’s tools', async () => {
    const { offered, find } = await offer('Send a parcel.', { always: ['weather.report'] })
    expect(namesOf(offered)).toEqual(['send_parcel', 'weather.report'])
    const found = await find?.answer({ query: 'translate a text' })
    expect(found?.content).toContain('translate: Puts a text into another language.')
  })

  it('is all, without a tool to find more, where there are few', async () => {
    const { offered, find } = await offer('anything', { offer: 5 })
    expect([namesOf(offered), find]).toEqual([namesOf(tools), null])
  })

  it('says what is wrong with a query', async () => {
    const { find } = await offer('Send a parcel.')
    for (const given of [{}, { query: ' ' }, { query: 'x'.repeat(1_001) }])
      expect(await find?.answer(given)).toMatchObject({ isError: true })
  })
})

it('a tool that was not offered can be found, and called', async () => {
  const many: Environment = {
    name: 'many',
    async open(task, seed) {
      const episode = await wordEnvironment.open(task, seed)
      return { ...episodeOf(episode), tools: [...tools, ...episode.tools] }
    },
  }
  const agent = defineAgent({
    name: 'finder',
    parameters: { model: weights({ base: 'scripted' }) },
    run: (task, { model }, episode) =>
      model.act([user(task.instruction)], episode, { context: context({ tools: { offer: 1, always: ['answer'] } }) }),
  })
  const trajectory = await attempt(
    (prompt) => {
      const [, word] = /the word is (\w+)/.exec(prompt) ?? []
      if (word !== undefined) return [`!answer {"word":"${word}"}`]
      return [prompt.includes('look: Shows the word.') ? '!look {}' : '!find_tools {"query":"shows the word"}']
    },
    { agent, environment: many },
  )
  expect(trajectory.finalState?.state).toMatchObject({ answer: 'plum' })
  expect(trajectory.steps.length).toBe(3)
})

const episodeOf = (episode: Awaited<ReturnType<Environment['open']>>) => ({
  opening: episode.opening,
  step: episode.step.bind(episode),
  close: episode.close.bind(episode),
})
