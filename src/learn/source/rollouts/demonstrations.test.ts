import { expect, it, vi } from 'vitest'
import { practisedModel } from '../../../../test/support/practised-model.ts'
import { readerTasks } from '../../../../test/support/reader.ts'
import { wordEnvironment } from '../../../../test/support/word-environment.ts'
import { type DemonstratedEpisode, type Environment, type Message, rng } from '../../../core/index.ts'
import { InputError } from '../../../errors/index.ts'
import { Demonstrations } from './demonstrations.ts'
import { rollouts } from '../../source.ts'

const [first, second] = readerTasks
const messages: readonly Message[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'What is the word?' },
  { role: 'assistant', content: 'plum' },
]

/** Renders demonstrations of the reader, and tells which tasks were opened and which tools were shown. */
async function render(demonstrations: readonly DemonstratedEpisode[] | null) {
  const opened: string[] = []
  let open = 0
  const environment: Environment = {
    name: 'word',
    open: async (task, seed) => {
      opened.push(task.id)
      open++
      const { opening } = await wordEnvironment.open(task, seed)
      return {
        opening,
        tools: [{ name: `tool of ${task.id}`, description: '', parameters: {} }],
        step: () => ({ messages: [], done: true }),
        close: () => {
          open--
          return { state: null, counts: {} }
        },
      }
    },
  }
  const { service } = practisedModel()
  const { renderer } = service
  const start = vi.spyOn(renderer, 'start')
  const { given: rendered } = await Demonstrations.read(
    { ...(demonstrations ? { prime: { demonstrations } } : {}), source: rollouts(environment, readerTasks) },
    service,
  )
  const shown = start.mock.calls.map(([, tools]) => tools?.map(({ name }) => name).join())
  return { rendered, opened, shown, open, renderer }
}

it('renders what the assistant did as acts, with what was asked', async () => {
  const { rendered, renderer } = await render([{ messages }])
  const [one] = rendered
  expect(rendered).toHaveLength(1)
  expect(one?.instruction).toBe('What is the word?')
  expect(renderer.decode(one?.tokens.filter((_, t) => one.learn[t]) ?? [])).toBe('plum')
  expect(renderer.decode(one?.tokens ?? [])).toContain('Be brief.')
})

it('takes the tools of the training task whose instruction it says, where it names none', async () => {
  const asked: readonly Message[] = [{ role: 'user', content: second!.instruction }, messages[2]!]
  const { opened, shown } = await render([{ messages: asked }, { messages }])
  expect(opened).toEqual([second?.id, first?.id])
  expect(shown).toEqual([`tool of ${second?.id}`, `tool of ${first?.id}`])
})

it('knows what was asked from the task, where that is given', async () => {
  const { rendered } = await render([{ messages, task: second! }])
  expect(rendered[0]?.instruction).toBe(second?.instruction)
})

it('shows the tools of an episode on the task, else on the first training task, and opens each once', async () => {
  const { opened, shown, open } = await render([{ messages }, { messages, task: second! }, { messages, task: second! }])
  expect(shown).toEqual([first, second, second].map((task) => `tool of ${task?.id}`))
  expect(opened).toEqual([first?.id, second?.id])
  expect(open, 'every episode is closed').toBe(0)
})

it('opens nothing where there is nothing to render', async () => {
  expect(await render(null)).toMatchObject({ rendered: [], opened: [] })
})

it('reads others as they are where some are left out', async () => {
  const other: readonly Message[] = [{ role: 'user', content: second?.instruction ?? '' }, messages.at(-1) as Message]
  const { service } = practisedModel()
  const read = (demonstrations: readonly DemonstratedEpisode[]) =>
    Demonstrations.read({ prime: { demonstrations }, source: rollouts(wordEnvironment, readerTasks) }, service)
  const both = await read([{ messages }, { messages: other }])
  const [alone, left] = [await read([{ messages: other }]), both.without(both.hashesOf([0]))]
  expect(left.given).toEqual(alone.given)
  expect(left.tools).toEqual(alone.tools)
  expect(left.told(0, 0, rng('told'))).toEqual(alone.given[0])
  expect(both.without([])).toBe(both)
})

it('refuses one in which the assistant does nothing', async () => {
  await expect(render([{ messages: messages.slice(0, 2) }])).rejects.toMatchObject({
    code: 'agent/empty-demonstration',
  })
})

it('names the demonstration and its message that the form of the model cannot express', async () => {
  const { service } = practisedModel()
  vi.spyOn(service.renderer, 'renderAssistant').mockImplementation(({ content }) => {
    if (content.includes('\n')) throw new InputError({ code: 'model/x', message: 'Two lines.', hint: 'Write one.' })
    return [1]
  })
  const long: Message = { role: 'assistant', content: 'plum\npear' }
  const reading = Demonstrations.read(
    {
      prime: { demonstrations: [{ messages }, { messages: [...messages, messages[1]!, long] }] },
      source: rollouts(wordEnvironment, readerTasks),
    },
    service,
  )
  await expect(reading).rejects.toMatchObject({
    code: 'model/x',
    message: 'Demonstration 2: Message 5: Two lines.',
    hint: 'Write one.',
  })
})

it.each([
  ['content that is null', { role: 'assistant', content: null }, 'Demonstration 1, message 2: content: '],
  [
    'calls as the OpenAI API has them',
    { role: 'assistant', content: '', tool_calls: [] },
    'message 2: Unrecognized key',
  ],
])('refuses %s from a program without types, and says what reads it', async (_, message, words) => {
  const recorded = { messages: [messages[1], message] } as unknown as DemonstratedEpisode
  await expect(render([recorded])).rejects.toMatchObject({
    code: 'learn/bad-demonstration',
    message: expect.stringContaining(words) as string,
    hint: expect.stringContaining('demonstrationFrom') as string,
  })
})

it('refuses those that do not fit the context, and reads no megabyte to find out', async () => {
  const { service } = practisedModel()
  const extend = vi.spyOn(service.renderer, 'extend')
  const megabyte: Message = { role: 'tool', name: 'open', content: 'lorem '.repeat(170_000) }
  const acted: Message = { role: 'assistant', content: 'plum' }
  const reading = Demonstrations.read(
    {
      prime: { demonstrations: [{ messages }, { messages: [...messages, megabyte, acted] }] },
      source: rollouts(wordEnvironment, readerTasks),
    },
    service,
  )
  await expect(reading).rejects.toMatchObject({
    code: 'learn/long-demonstration',
    message: expect.stringContaining('1 of 2 demonstrations') as string,
  })
  for (const [shown] of extend.mock.calls) {
    for (const { content } of shown) expect(content.length).toBeLessThan(megabyte.content.length)
  }
})
