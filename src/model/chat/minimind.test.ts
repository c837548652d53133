import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask, askingAll, chunksOf, gather } from '../../../test/support/chat-answers.ts'
import { sha256, type ChatUpstream, type Message, type ModelService } from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import { bytesOf } from '../embedded/index.ts'
import { openEmbeddedModel } from '../open-embedded-model.ts'
import { chatUpstream } from './chat-upstream.ts'

const asks = { model: 'minimind2-small', ...askingAll }
const greeting = { role: 'user', content: '你好！请用一句话介绍长江 😀' }
const tools = [
  {
    type: 'function',
    function: { name: 'search', description: 'Finds a page', parameters: { type: 'object', properties: {} } },
  },
]

describe('MiniMind2-Small, served', () => {
  let service: ModelService
  let upstream: ChatUpstream
  beforeAll(async () => {
    const model = await openEmbeddedModel({ reference: 'minimind2-small', deterministic: true })
    service = model.service
    upstream = chatUpstream({ name: 'embedded', service, ownsService: true })
  }, 60_000)
  afterAll(() => upstream.close())

  const answer = async (request: object, history: Parameters<typeof upstream.chat>[0]['history'] = null) => {
    const gathered = await gather(await ask(upstream, { ...asks, ...request }, { history }))
    return { ...gathered, promptTokens: present(gathered.promptTokens, 'the prompt'), choice: gathered.choices[0]! }
  }

  it('streams what it says whole, in text that is never half a character', async () => {
    const request = { messages: [greeting], max_tokens: 24, seed: 11 }
    const whole = await answer(request)
    const chunks = await chunksOf(await ask(upstream, { ...asks, ...request, stream: true }))
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta.content ?? ''))
    const tokens = chunks.flatMap(({ choices }) => choices.flatMap(({ token_ids }) => token_ids ?? []))
    expect(tokens).toEqual(whole.choice.tokens)
    expect(tokens.length).toBeGreaterThan(12)
    expect(deltas.join('')).toBe(whole.choice.content)
    const spoken = tokens.filter((token) => !service.renderer.stop.tokens.includes(token))
    expect(deltas.join('')).toBe(service.renderer.decode(spoken))
    const texts = deltas.filter((text) => text !== '')
    expect(texts.length).toBeGreaterThan(6)
    // Only its length can cut a character.
    for (const text of texts.slice(0, -1)) expect(text).not.toContain('\ufffd')
  })

  it('goes on with a conversation from the tokens that it read and sampled', async () => {
    const messages: object[] = [{ role: 'system', content: 'You are brief.' }, greeting]
    let history: { messages: number; tokens: number[]; closedTurn: boolean } | null = null
    for (let turn = 0; turn < 3; turn++) {
      const { promptTokens, choice } = await answer({ messages, max_tokens: 12, seed: turn, tools }, history)
      if (history) expect(promptTokens.slice(0, history.tokens.length)).toEqual(history.tokens)
      expect(promptTokens.length).toBeGreaterThan(history?.tokens.length ?? 0)
      messages.push({ role: 'assistant', content: choice.content })
      history = {
        messages: messages.length,
        tokens: [...promptTokens, ...choice.tokens],
        closedTurn: choice.closedTurn === true,
      }
      messages.push({ role: 'user', content: '继续' })
    }
  })

  it('tells log-probabilities that a trainer computes too, of the base and of an adapter (invariant 2)', async () => {
    const trainer = await service.trainer({ kind: 'lora', rank: 4, alpha: 8 }, 1)
    const rescored = async ({ promptTokens, choice }: Awaited<ReturnType<typeof answer>>) => {
      const all = [...promptTokens, ...choice.tokens]
      const weights = all.slice(1).map((_, i) => (i + 1 < promptTokens.length ? 0 : 1))
      const datum = { input: all.slice(0, -1), target: all.slice(1), weights }
      const { logprobs } = await trainer.forwardBackward([datum], { kind: 'cross_entropy' })
      return (logprobs[0] ?? []).slice(promptTokens.length - 1)
    }
    const agrees = async (answered: Awaited<ReturnType<typeof answer>>) => {
      const expected = await rescored(answered)
      expect(expected).toHaveLength(answered.choice.logprobs.length)
      answered.choice.logprobs.forEach((logprob, i) =>
        expect(Math.abs(Math.exp(logprob - expected[i]!) - 1)).toBeLessThan(1e-4),
      )
      return answered.choice
    }
    const request = { messages: [greeting], max_tokens: 12, seed: 3 }
    const base = await agrees(await answer(request))
    expect(base.behaviourLogprobs).toEqual(base.logprobs)
    const cool = await agrees(await answer({ ...request, temperature: 0.7 }))
    expect(cool.behaviourLogprobs).not.toEqual(cool.logprobs)

    await trainer.optimStep({ learningRate: 1e-3 })
    const bytes = bytesOf(await trainer.saveWeights())
    const tuned = chatUpstream({ name: 'tuned', service, adapterBytes: () => Promise.resolve(bytes) })
    const weights = { ...tuned.weights(asks.model), adapter: sha256(bytes) }
    const { choices, promptTokens } = await gather(await ask(tuned, { ...asks, ...request }, { weights }))
    const adapted = await agrees({
      choices,
      usage: null,
      promptTokens: present(promptTokens, 'the prompt'),
      choice: choices[0]!,
    })
    expect(adapted.logprobs).not.toEqual(base.logprobs)
    await trainer.close()
  })

  it('reads a call as it reads a demonstration of one', async () => {
    // The model seldom calls: what it would have to sample is read instead.
    const message: Message = {
      role: 'assistant',
      content: '好',
      toolCalls: [{ name: 'search', arguments: { q: '😀' } }],
    }
    const reader = service.renderer.read([{ name: 'search', description: '', parameters: {} }], [])
    const told = service.renderer.renderAssistant(message, []).map((token) => reader.push([token]))
    expect(told.map(({ content }) => content).join('')).toBe('好')
    expect(told.flatMap(({ toolCalls }) => toolCalls)).toEqual(message.toolCalls)
    expect(reader.end()).toEqual(message)
  })

  it('refuses what its sampler cannot do', async () => {
    await expect(ask(upstream, { ...asks, top_k: 1.5 })).rejects.toMatchObject({ kind: 'refused', status: 400 })
  })

  it('is free at once when a client goes away', async () => {
    const gone = new AbortController()
    const long = { ...asks, messages: [greeting], max_tokens: 4_000, temperature: 2, stream: true }
    const reply = await ask(upstream, long, { signal: gone.signal })
    if (reply.kind !== 'stream') throw new Error('no stream')
    let tokens = 0
    const reading = (async () => {
      for await (const { choices } of reply.chunks) {
        tokens += choices[0]?.token_ids?.length ?? 0
        // What the first token says may not be certain yet.
        if (tokens > 0) gone.abort()
      }
    })()
    await expect(reading).rejects.toMatchObject({ kind: 'cancelled' })
    expect(tokens).toBeGreaterThan(0)
    expect(tokens).toBeLessThan(400)
  })
})
