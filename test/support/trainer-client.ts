import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'

const Answer = z.record(z.string(), z.unknown())
type Answer = z.infer<typeof Answer>

/** Asks a trainer server in JSON, whatever comes of it. */
export async function ask(url: string, path: string, body: unknown, key = 'tml-local') {
  const response = await fetch(`${url}/api/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: Answer.parse(await response.json()) }
}

/** A client that knows nothing of the server's fate: it repeats each request, byte by byte, until it has an answer. */
export class PatientClient {
  readonly #url: string
  readonly #key: string | undefined

  constructor(url: string, key?: string) {
    this.#url = url
    this.#key = key
  }

  /** The first answer. @throws Error for a refusal. */
  async send(path: string, body: unknown): Promise<Answer> {
    for (;;) {
      const answer = await ask(this.#url, path, body, this.#key).catch(() => null)
      if (answer?.status === 200) return answer.body
      if (answer !== null && answer.status !== 408) throw new Error(`${path}: ${JSON.stringify(answer)}`)
      await sleep(20)
    }
  }

  /** The result of a request. */
  async result(path: string, body: unknown): Promise<Answer> {
    const { request_id } = await this.send(path, body)
    return this.send('/retrieve_future', { request_id })
  }

  /** A session and a model in it. */
  async model(lora: { readonly rank: number; readonly seed: number }, base: string): Promise<string> {
    const { session_id } = await this.send('/create_session', { tags: [], sdk_version: 'test', user_metadata: null })
    const body = { session_id, model_seq_id: 0, base_model: base, lora_config: lora }
    return z.string().parse((await this.result('/create_model', body)).model_id)
  }
}

const tensor = (data: readonly number[], dtype = 'float32') => ({ data, dtype, shape: [data.length] })

/** One sequence for cross-entropy. */
export const datumBody = (tokens: readonly number[], floats: Readonly<Record<string, readonly number[]>> = {}) => ({
  model_input: { chunks: [{ type: 'encoded_text', tokens: tokens.slice(0, -1) }] },
  loss_fn_inputs: {
    target_tokens: tensor(tokens.slice(1), 'int64'),
    ...Object.fromEntries(Object.entries(floats).map(([name, data]) => [name, tensor(data)])),
  },
})

/** A pass over data. */
export const passBody = (model: string, seq: number, data: readonly unknown[], loss_fn = 'cross_entropy') => ({
  model_id: model,
  seq_id: seq,
  forward_backward_input: { data, loss_fn },
})

/** One optimizer step. */
export const stepBody = (model: string, seq: number, learning_rate = 0.01) => ({
  model_id: model,
  seq_id: seq,
  adam_params: { learning_rate, beta1: 0.9, beta2: 0.95, eps: 1e-8 },
})
