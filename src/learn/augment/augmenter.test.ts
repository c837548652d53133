import { describe, expect, it } from 'vitest'
import { type DemonstratedEpisode, rng, type ToolDefinition } from '../../core/index.ts'
import { lookup } from '../../../test/support/lookup.ts'
import { Augmenter } from './augmenter.ts'

const titles = ['Oak', 'Elm', 'Fir', 'Ash', 'Yew', 'Box', 'Bay', 'Fig', 'Nut']
const train = titles.map((title) => ({ instruction: `Since when has edge ${title}?` }))
const oak = lookup('Oak', ['Oakley'])

it('tells a demonstration of another name and another number, alike wherever they stand', () => {
  const told = JSON.stringify(new Augmenter([oak], train).told(oak, 1, rng('told')))
  const [, asked = ''] = /"query":"(\w+)"/.exec(told) ?? []
  const [, listed] = /edge (\d+)"/.exec(told) ?? []
  expect(asked).not.toBe('Oak')
  expect(told).toMatch(new RegExp(`edge .*${asked}\\?"`))
  expect(told).toContain(`"title":"${asked}"`)
  expect(told).toMatch(new RegExp(`${asked}\\\\n\\w+`))
  expect(told).toContain(`"text":"edge ${listed}"`)
  expect(listed).not.toBe('12')
})

it('leaves it as it is where the share is 0', () => {
  expect(new Augmenter([oak], train).told(oak, 0, rng('told'))).toBeNull()
})

it('knows names of its own where few are known', () => {
  const few = new Augmenter([oak], train.slice(0, 3))
  expect(few.names).toBe(3)
  const told = Array.from({ length: 30 }, (_, seed) => JSON.stringify(few.told(oak, 1, rng('told', seed))))
  const asked = new Set(told.map((one) => /"query":"(\w+)"/.exec(one)?.[1]))
  expect(asked.size).toBeGreaterThan(20)
})

it('changes nothing where there is nothing to tell otherwise', () => {
  const quiet = {
    messages: [{ role: 'user', content: 'Go.' } as const, { role: 'assistant', content: 'Done.' } as const],
  }
  expect(new Augmenter([quiet], []).told(quiet, 1, rng('told'))).toBeNull()
})

describe('an instruction in other words', () => {
  const augmenter = new Augmenter([oak], train)

  it('keeps the name, and what tools and calls say', () => {
    const told = Array.from(
      { length: 100 },
      (_, seed) => augmenter.told(oak, 1, rng('asked', seed))?.[0]?.content ?? '',
    )
    expect(told.filter((content) => !/^Since when has edge \w+\?$/.test(content)).length).toBeGreaterThan(20)
    for (const content of told) expect(content).toMatch(/\bedge\b/)
    for (const content of told) expect(content).toMatch(/[A-Z]\w+\?/)
  })

  it('gets no word put in that tools or calls say', () => {
    const told = Array.from({ length: 200 }, (_, seed) => augmenter.told(oak, 1, rng('in', seed))?.[0]?.content ?? '')
    for (const one of told) expect(one.match(/\bedge\b/g)).toHaveLength(1)
    expect(told.some((one) => one.split(' ').length > 5)).toBe(true)
  })
})

it('leaves the items of a list whose schema lists them', () => {
  const tagging = (tag: string): DemonstratedEpisode => ({
    messages: [
      { role: 'user', content: 'Tag it.' },
      { role: 'tool', name: 'look', content: `tag ${tag}` },
      { role: 'assistant', content: '', toolCalls: [{ name: 'tag', arguments: { tags: [tag] } }] },
    ],
  })
  const parameters = { type: 'object', properties: { tags: { type: 'array', items: { enum: ['urgent', 'late'] } } } }
  const told = (tools: readonly ToolDefinition[]) => {
    const augmenter = new Augmenter([tagging('urgent'), tagging('late')], [], tools)
    const texts = Array.from({ length: 40 }, (_, seed) => augmenter.told(tagging('urgent'), 1, rng('tag', seed)))
    return new Set(texts.map((messages) => messages?.[1]?.content ?? 'tag urgent'))
  }
  expect(told([{ name: 'tag', description: '', parameters }])).toEqual(new Set(['tag urgent']))
  expect(told([]).size).toBeGreaterThan(5)
})

it('leaves what a call gives to an argument whose schema lists its values', () => {
  const sorts = (word: string) => lookup('Oak', [], { document: `price 3\ncolour ${word}`, answer: word })
  const demonstrations = [sorts('green'), sorts('yellow'), sorts('red')]
  const parameters = { type: 'object', properties: { text: { enum: ['green', 'yellow', 'red'] } } }
  const answersOf = (tools: readonly ToolDefinition[]) => {
    const augmenter = new Augmenter(demonstrations, [], tools)
    const told = Array.from({ length: 40 }, (_, seed) =>
      JSON.stringify(augmenter.told(sorts('green'), 1, rng('t', seed))),
    )
    return new Set(told.map((one) => /"text":"(\w+)"/.exec(one)?.[1] ?? ''))
  }
  expect(answersOf([{ name: 'answer', description: '', parameters }])).toEqual(new Set(['green']))
  expect(answersOf([]).size).toBeGreaterThan(10)
})

it('tells numbers, lists and objects that a call is given as it tells texts', () => {
  const picking = (name: string): DemonstratedEpisode => ({
    messages: [
      { role: 'user', content: `Ship the ${name}.` },
      { role: 'assistant', content: '', toolCalls: [{ name: 'find', arguments: { name } }] },
      { role: 'tool', name: 'find', content: `${name}\nbin 4417\nweight 12` },
      {
        role: 'assistant',
        content: '',
        toolCalls: [{ name: 'ship', arguments: { from: 4417, items: [{ name, weight: 12 }], express: true } }],
      },
    ],
  })
  const augmenter = new Augmenter([picking('bolt'), picking('lamp')], [])
  const told = Array.from({ length: 40 }, (_, seed) => augmenter.told(picking('bolt'), 1, rng('typed', seed)) ?? [])
  const bins = new Set<string>()
  for (const messages of told) {
    const [, name, bin = '', weight] = /^(.+)\nbin (\d+)\nweight (\d+)$/.exec(messages[2]?.content ?? '') ?? []
    expect(messages[3]).toMatchObject({
      toolCalls: [{ arguments: { from: Number(bin), items: [{ name, weight: Number(weight) }], express: true } }],
    })
    bins.add(bin)
  }
  expect(bins.size).toBeGreaterThan(20)
})
