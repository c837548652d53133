import { afterEach, describe, expect, it } from 'vitest'
import { servedTrainer } from '../../test/support/served-trainer.ts'
import { ask, datumBody, passBody, PatientClient, stepBody } from '../../test/support/trainer-client.ts'
import { passProtobuf } from '../model/tinker/protobuf.ts'
import { protobufType } from './wire/write-protobuf.ts'

/* What one request could write down so that the server cannot start on its folder again. */

const open: Awaited<ReturnType<typeof servedTrainer>>[] = []
const serve = async (...options: Parameters<typeof servedTrainer>) => {
  const server = await servedTrainer(...options)
  open.push(server)
  return server
}
afterEach(async () => {
  for (const server of open.splice(0)) await server.close()
})

const tokens = [1, 2, 3, 4, 5]
const samples = (sampling_session_id: unknown, params: object) => ({
  sampling_session_id,
  prompt: { chunks: [{ type: 'encoded_text', tokens: [1, 2] }] },
  sampling_params: { max_tokens: 2, ...params },
})

it('a sample at a temperature that float32 cannot divide by is refused by field', async () => {
  const { url } = await serve()
  const client = new PatientClient(url)
  const { session_id } = await client.send('/create_session', {})
  const created = { session_id, sampling_session_seq_id: 0, base_model: 'tiny' }
  const { sampling_session_id } = await client.send('/create_sampling_session', created)
  for (const temperature of [1e-40, 1e-50, 1e39]) {
    expect(await ask(url, '/asample', samples(sampling_session_id, { temperature }))).toMatchObject({
      status: 400,
      body: { code: 'trainer/invalid-request', field: 'sampling_params.temperature' },
    })
  }
})

describe('weights that diverged', () => {
  it('are refused by what samples from them, and the server starts again', async () => {
    const { url, folder, problems } = await serve()
    const client = new PatientClient(url)
    const model = await client.model({ rank: 4, seed: 1 }, 'tiny')
    const far = await ask(url, '/optim_step', stepBody(model, 1, 1e20))
    expect(far).toMatchObject({ status: 400, body: { field: 'adam_params.learning_rate' } })
    for (let seq = 1; seq <= 6; seq += 2) {
      await client.result('/forward_backward', passBody(model, seq, [datumBody(tokens)]))
      const { adam_params, ...step } = stepBody(model, seq + 1, 10)
      await client.result('/optim_step', { ...step, adam_params: { ...adam_params, weight_decay: 1e30 } })
    }
    const saved = { model_id: model, seq_id: 8, sampling_session_seq_id: 0 }
    const { sampling_session_id } = await client.result('/save_weights_for_sampler', saved)
    const drawn = await client.result('/asample', { ...samples(sampling_session_id, {}), prompt_logprobs: true })
    expect(drawn).toMatchObject({ category: 'user', code: 'model/non-finite-probabilities' })
    expect(problems).toEqual([])
    await open.pop()?.close()
    await serve({ folder })
  })
})

describe('a pass in protobuf', () => {
  const send = async (url: string, body: Parameters<typeof passProtobuf>[0]) => {
    const response = await fetch(`${url}/api/v1/forward_backward`, {
      method: 'POST',
      headers: { 'content-type': protobufType },
      body: Buffer.from(passProtobuf(body)),
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const data = [{ input: [1, 2], target: [2, 3], floats: { logprobs: [-1, -1], advantages: [1, 1] } }]

  it.each(['ppo', 'cispo'] as const)('without an upper clip of %s is taken and outlasts a start', async (loss) => {
    const { url, folder } = await serve()
    const client = new PatientClient(url)
    const modelId = await client.model({ rank: 4, seed: 1 }, 'tiny')
    const pass = { modelId, forwardOnly: false, data, loss }
    const free = { clip_high_threshold: Number.POSITIVE_INFINITY }
    const { status, body } = await send(url, { ...pass, seqId: 1, config: free })
    expect(status).toBe(200)
    expect(await client.send('/retrieve_future', body)).toMatchObject({ loss_fn_outputs: [expect.any(Object)] })
    await open.pop()?.close()
    const again = new PatientClient((await serve({ folder })).url)
    expect(await again.result('/optim_step', stepBody(modelId, 2))).toMatchObject({
      metrics: { step: 1, grad_norm: expect.any(Number) },
    })
  })

  it('with a bound that is no bound, or a number beyond all whole ones, is refused', async () => {
    const { url, folder, problems } = await serve()
    const modelId = await new PatientClient(url).model({ rank: 4, seed: 1 }, 'tiny')
    const pass = { modelId, forwardOnly: false, data, loss: 'ppo' as const }
    for (const config of [
      { clip_low_threshold: Number.POSITIVE_INFINITY },
      { clip_low_threshold: Number.NEGATIVE_INFINITY },
      { clip_high_threshold: Number.NEGATIVE_INFINITY },
      { clip_high_threshold: Number.NaN },
    ]) {
      expect((await send(url, { ...pass, seqId: 1, config })).status).toBe(400)
    }
    const large = await send(url, { ...pass, seqId: 2 ** 60, config: {} })
    expect(large).toMatchObject({ status: 400, body: { field: 'seq_id' } })
    expect(problems).toEqual([])
    await open.pop()?.close()
    await serve({ folder })
  })
})
