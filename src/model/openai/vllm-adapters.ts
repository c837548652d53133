import { resolve } from 'node:path'
import type { BlobHash, ChatCall, ChatChunk, ChatReply } from '../../core/index.ts'
import { AdapterShelf } from './adapter-shelf.ts'
import type { Endpoint } from './endpoint.ts'
import { held } from './held.ts'
import { peftAdapter, writePeftFolder } from './peft-folder.ts'
import { isUnservedAdapter, notLoaded } from './unserved-adapter.ts'
import { isUpstreamFailure } from '../http/upstream-error.ts'

export interface VllmAdapterOptions {
  /** A folder that the server reads, too, under the same path: adapters are written into it. */
  readonly folder: string
  /** An adapter's bytes, by their hash. */
  readonly bytes: (hash: BlobHash) => Promise<Uint8Array>
  /** Adapters that the server is to hold at once, at most. Default 8. */
  readonly most?: number
}

const nobody = new AbortController().signal

/**
 * Adapters that a vLLM server loads while it runs: `POST /v1/load_lora_adapter` and `/v1/unload_lora_adapter`; requests
 * then name the adapter as their model. Source: vLLM's documentation, "Dynamically serving LoRA adapters". Needs a server
 * with `--enable-lora`, a `--max-lora-rank` that is enough, and `VLLM_ALLOW_RUNTIME_LORA_UPDATING=True`. Several gateways
 * may share a server: what another one has loaded is there, and what another one has unloaded is loaded again.
 */
export class VllmAdapters {
  readonly #upstream: string
  readonly #endpoint: Endpoint
  readonly #options: VllmAdapterOptions
  /** The names that the server knows them by. */
  readonly #shelf: AdapterShelf<string>

  constructor(upstream: string, endpoint: Endpoint, options: VllmAdapterOptions) {
    this.#upstream = upstream
    this.#endpoint = endpoint
    this.#options = options
    this.#shelf = new AdapterShelf({
      most: options.most ?? 8,
      load: (hash) => this.#load(hash),
      unload: (name) => this.#post('/unload_lora_adapter', { lora_name: name }),
    })
  }

  /** Whether a model's name is one that an adapter was given here. */
  static isName(model: string): boolean {
    return /^ratchet-[0-9a-f]{24}$/.test(model)
  }

  /** @throws UnservedAdapterError */
  prepare(hash: BlobHash): Promise<void> {
    return this.#shelf.prepare(hash)
  }

  /**
   * The answer that `ask` gets with an adapter, which stays loaded to its last token. A server that has forgotten it, since
   * it began anew or another gateway unloaded it, is given it again.
   * @param ask asks for the model of that name.
   * @throws UnservedAdapterError, and whatever `ask` throws.
   */
  async answer(
    hash: BlobHash,
    { request, signal }: Pick<ChatCall, 'request' | 'signal'>,
    ask: (name: string) => Promise<ChatReply>,
  ): Promise<ChatReply> {
    for (let again = false; ; again = true) {
      const { adapter: name, giveBack } = await this.#shelf.take(hash)
      try {
        const reply = named(await ask(name), name, request.model)
        if (reply.kind === 'stream') return held(reply, giveBack, signal)
        giveBack()
        return reply
      } catch (error) {
        giveBack()
        if (!isUpstreamFailure(error) || error.status !== 404) throw error
        this.#shelf.forget(hash, name)
        if (again) throw notLoaded(this.#upstream, error)
      }
    }
  }

  async #load(hash: BlobHash): Promise<string> {
    const name = `ratchet-${hash.slice(0, 24)}`
    const { folder, bytes } = this.#options
    try {
      const path = await writePeftFolder(resolve(folder), name, async () => peftAdapter(await bytes(hash)))
      await this.#post('/load_lora_adapter', { lora_name: name, lora_path: path })
      return name
    } catch (error) {
      if (isLoaded(error)) return name
      throw isUnservedAdapter(error) ? error : notLoaded(this.#upstream, error)
    }
  }

  async #post(path: string, body: object): Promise<void> {
    const asked = { method: 'POST', path, body, authorization: null, signal: nobody } as const
    // What it says is a sentence for people.
    const answer = await this.#endpoint.send({ ...asked, accept: 'application/json' })
    answer.drain()
  }
}

/** vLLM refuses to load what it has, with a sentence that says so. */
const isLoaded = (error: unknown): boolean =>
  isUpstreamFailure(error) && error.status === 400 && /already (?:been )?loaded/i.test(error.message)

/** The answer, from the model that the client knows. */
function named(reply: ChatReply, from: string, to: string): ChatReply {
  const renamed = <T extends { readonly model: string }>(said: T): T =>
    said.model === from ? { ...said, model: to } : said
  if (reply.kind === 'whole') return { ...reply, completion: renamed(reply.completion) }
  const inner = reply.chunks[Symbol.asyncIterator]()
  const chunks: AsyncIterableIterator<ChatChunk> = {
    async next() {
      const result = await inner.next()
      return result.done === true ? result : { done: false, value: renamed(result.value) }
    },
    return: async () => (await inner.return?.()) ?? { done: true, value: undefined },
    [Symbol.asyncIterator]: () => chunks,
  }
  return { ...reply, chunks }
}
