import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { BigramModel, type Pass, type Reduction, type SampleBody } from './bigram-model.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- the stand-in trusts its client, which the real servers check
type Body = any

/** One request as the server sees it; `count` is how many of its path came before. */
export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly body: Body
  readonly headers: IncomingMessage['headers']
  readonly count: number
}

/** What goes wrong with a request. `unheard`: the connection breaks before, `lost`: after it was acted on. */
export type Fault =
  | { readonly kind: 'unheard' }
  | { readonly kind: 'lost' }
  | { readonly kind: 'slow'; readonly milliseconds: number }
  | {
      readonly kind: 'status'
      readonly status: number
      readonly body?: unknown
      readonly headers?: Record<string, string>
    }
  // oxlint-disable-next-line typescript/no-explicit-any -- each test knows what it lies about
  | { readonly kind: 'lie'; readonly say: (answer: any) => unknown }
  | { readonly kind: 'raw'; readonly text: string }

interface Reply {
  readonly status: number
  readonly body: unknown
}

/** The protocol's size of a server's vocabulary: bytes and three special tokens. */
export const vocabularySize = 259

/**
 * A small honest server of the Tinker protocol in JSON, whose model is a table of bigrams: losses, gradients and
 * log-probabilities are real. Faults are put in by `fault`, request by request.
 */
export async function openTinkerServer(
  fault: (request: SeenRequest) => Fault | undefined = () => undefined,
  reduction: Reduction = 'sum',
  /** `slot`: samples come from the weights that are trained, whatever the sampling session was opened for. */
  samples: 'copy' | 'slot' = 'copy',
) {
  const state = new State(reduction, samples)
  const seen: SeenRequest[] = []
  const answer = async (request: SeenRequest, response: ServerResponse) => {
    const wrong = fault(request)
    if (wrong?.kind === 'unheard') return response.destroy()
    if (wrong?.kind === 'status') return send(response, wrong.status, wrong.body, wrong.headers)
    if (wrong?.kind === 'slow') await sleep(wrong.milliseconds)
    const { status, body } = await state.answer(request)
    if (wrong?.kind === 'lost') return response.destroy()
    if (wrong?.kind === 'raw') return response.writeHead(200, { 'content-type': 'application/json' }).end(wrong.text)
    send(response, status, wrong?.kind === 'lie' ? wrong.say(structuredClone(body)) : body)
  }
  const server = createServer((incoming, response) => {
    const parts: Buffer[] = []
    incoming.on('data', (part: Buffer) => parts.push(part))
    incoming.on('end', () => {
      const path = (incoming.url ?? '').replace('/api/v1', '')
      const text = Buffer.concat(parts).toString('utf8')
      const count = seen.filter((one) => one.path === path).length
      const body = text === '' ? null : JSON.parse(text)
      const request = { method: incoming.method ?? '', path, body, headers: incoming.headers, count }
      seen.push(request)
      void answer(request, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    /** Ids of models that are loaded. */
    models: () => [...state.models.keys()],
    /** Ids of models that were ever created. */
    all: () => [...state.created],
    /** Gradients and steps that were applied. */
    applied: state.applied,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function send(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(body === undefined ? '' : JSON.stringify(body))
}

const ok = (body: unknown): Reply => ({ status: 200, body })
const refuse = (status: number, detail: string): Reply => ({ status, body: { detail } })

class State {
  readonly models = new Map<string, { model: BigramModel; requests: number }>()
  readonly created = new Set<string>()
  readonly applied = { passes: 0, steps: 0 }
  readonly #base: BigramModel
  readonly #kept = new Map<string, BigramModel>()
  readonly #sampling = new Map<string, BigramModel>()
  readonly #samples: 'copy' | 'slot'
  /** Where the weights of sampling sessions are kept. */
  readonly #paths = new Map<string, string>()
  readonly #futures = new Map<string, unknown>()
  readonly #bySeq = new Map<string, { text: string; id: string }>()
  #ids = 0

  constructor(reduction: Reduction, samples: 'copy' | 'slot') {
    this.#samples = samples
    this.#base = new BigramModel(vocabularySize, reduction)
  }

  async answer({ method, path, body }: SeenRequest): Promise<Reply> {
    if (method === 'GET' && path === '/get_server_capabilities')
      return ok({ supported_models: [{ model_name: 'tiny' }] })
    if (method === 'GET' && path.startsWith('/samplers/')) {
      const id = path.slice('/samplers/'.length)
      return this.#sampling.has(id)
        ? ok({ sampler_id: id, base_model: 'tiny', model_path: this.#paths.get(id) ?? null })
        : refuse(404, 'Sampling session not found')
    }
    if (method === 'GET') return this.#list(path)
    if (method === 'DELETE')
      return this.#kept.delete(uriOf(path)) ? { status: 204, body: undefined } : refuse(404, 'gone')
    switch (path) {
      case '/create_session':
        return ok({ session_id: this.#id('session'), type: 'create_session' })
      case '/session_heartbeat':
        return ok({ type: 'session_heartbeat' })
      case '/create_model': {
        const id = this.#id('model')
        this.models.set(id, { model: this.#base.copy(), requests: 0 })
        this.created.add(id)
        return ok({ model_id: id, base_model: 'tiny', ...this.#future({ model_id: id }) })
      }
      case '/create_sampling_session':
        return ok({ sampling_session_id: this.#hold(body.base_model ? this.#base : this.#kept.get(body.model_path)!) })
      case '/weights_info':
        return this.#kept.has(body.tinker_path)
          ? ok({ base_model: 'tiny', lora_rank: 4 })
          : refuse(404, 'no checkpoint')
      case '/retrieve_future':
        return this.#futures.has(body.request_id) ? ok(this.#futures.get(body.request_id)) : refuse(404, 'no future')
      case '/asample':
        return this.#sample(body)
    }
    const held = this.models.get(body.model_id)
    if (held === undefined) return refuse(404, 'Model not found')
    if (path === '/unload_model') {
      this.models.delete(body.model_id)
      return ok(this.#future({ model_id: body.model_id }))
    }
    return this.#once(path, body, held)
  }

  /** The same request by the same number is answered as before, and not acted on again. */
  #once(path: string, body: Body, held: { model: BigramModel; requests: number }): Reply {
    const key = `${body.model_id} ${body.seq_id}`
    const text = path + JSON.stringify(body)
    const before = this.#bySeq.get(key)
    if (before?.text === text) return ok({ request_id: before.id })
    if (before !== undefined) return refuse(409, 'Training request sequence number was reused')
    const first = held.requests++ === 0
    const result = this.#acted(path, body, held.model, first)
    if ('status' in result) return result
    const { request_id } = this.#future(result.done)
    this.#bySeq.set(key, { text, id: request_id })
    return ok({ request_id })
  }

  #acted(path: string, body: Body, model: BigramModel, first: boolean): Reply | { done: unknown } {
    switch (path) {
      case '/forward':
      case '/forward_backward': {
        const backward = path === '/forward_backward'
        if (backward) this.applied.passes++
        return { done: model.pass((backward ? body.forward_backward_input : body.forward_input) as Pass, backward) }
      }
      case '/optim_step':
        this.applied.steps++
        return { done: { metrics: { 'test/grad_norm': model.step(body.adam_params) } } }
      case '/save_weights': {
        const uri = `tinker://${body.model_id}/weights/${body.path}`
        this.#kept.set(uri, model.copy())
        return { done: { path: uri, type: 'save_weights' } }
      }
      case '/load_weights': {
        const kept = this.#kept.get(body.path)
        if (!first) return refuse(400, `LoadWeights is not permitted with seq_id ${body.seq_id}`)
        if (kept === undefined) return refuse(404, `Checkpoint not found: ${body.path}`)
        model.become(kept, body.optimizer)
        return { done: { type: 'load_weights' } }
      }
      case '/save_weights_for_sampler': {
        const name = body.path ?? `ss${body.sampling_session_seq_id}_seq${body.seq_id}`
        const path = `tinker://${body.model_id}/sampler_weights/${name}`
        const kept = model.copy()
        this.#kept.set(path, kept)
        if (body.path) return { done: { path, sampling_session_id: null } }
        const id = this.#hold(this.#samples === 'slot' ? model : kept)
        this.#paths.set(id, path)
        return { done: { path: null, sampling_session_id: id } }
      }
      default:
        return refuse(404, 'Not Found')
    }
  }

  async #sample(body: SampleBody): Promise<Reply> {
    const model = this.#sampling.get(body.sampling_session_id)
    if (model === undefined) return refuse(404, 'Sampling session not found')
    if (body.sampling_params.max_tokens > 100) await sleep(50)
    return ok(this.#future(model.sample(body)))
  }

  #list(path: string): Reply {
    const run = path.split('/')[2]
    const paths = [...this.#kept.keys()].filter((uri) => uri.startsWith(`tinker://${run}/`))
    const checkpoints = paths.map((uri) => ({
      checkpoint_id: uri.split('/').at(-1),
      checkpoint_type: uri.includes('sampler_weights') ? 'sampler' : 'training',
      time: '2026-11-25T18:00:00Z',
      tinker_path: uri,
    }))
    return ok({ checkpoints })
  }

  #hold(model: BigramModel): string {
    const id = this.#id('sampling')
    this.#sampling.set(id, model)
    return id
  }

  #future(result: unknown): { request_id: string } {
    const request_id = this.#id('request')
    this.#futures.set(request_id, result)
    return { request_id }
  }

  #id(what: string): string {
    return `${what}_${this.#ids++}`
  }
}

/** `/training_runs/RUN/checkpoints/weights/NAME` → `tinker://RUN/weights/NAME`. */
const uriOf = (path: string): string => path.replace(/^\/training_runs\/([^/]+)\/checkpoints\//, 'tinker://$1/')
