import { type Context, Hono } from 'hono'
import type { Door, Takes, Visitor } from '../door.ts'
import { requestError } from '../errors.ts'
import type { TrainerHost } from '../host.ts'
import * as checkpoints from '../requests/checkpoints.ts'
import * as models from '../requests/models.ts'
import { retrieve } from '../requests/results.ts'
import * as sampling from '../requests/sampling.ts'
import type { Sessions } from '../requests/sessions.ts'
import * as training from '../requests/training.ts'
import { Forward, ForwardBackward, type PassInputBody } from '../wire/bodies.ts'
import { rawData } from '../wire/pass.ts'
import { readBody } from '../wire/read-body.ts'
import { readPassBody } from '../wire/read-protobuf.ts'
import { protobufType } from '../wire/write-protobuf.ts'
import { type Body, readRequest } from './body.ts'
import { problemResponse } from './problem.ts'

export interface AppOptions {
  readonly host: TrainerHost
  readonly sessions: Sessions
  readonly door: Door
  /** Told of what is answered with 500. */
  readonly onUnexpected: (error: unknown) => void
}

/** Of a body that names one thing. */
const mostSmallBytes = 16_384

type Handler = (owner: string, body: Body, c: Context) => unknown

/** The REST endpoints of the Tinker protocol. */
export function trainerApp({ host, sessions, door, onUnexpected }: AppOptions): Hono {
  const app = new Hono().basePath('/api/v1')
  const { base, sampler } = host.service

  const route = (method: 'GET' | 'POST' | 'DELETE', path: string, handler: Handler, takes: Takes = 'place') =>
    app.on(method, path, async (c) => {
      const visitor = await door(c.req.raw.headers, takes)
      try {
        const body = await bodyOf(c, visitor, takes)
        const leave = visitor.enter()
        try {
          const result = await handler(visitor.owner, body, c)
          if (result instanceof Response) return result
          return result === undefined ? c.body(null, 204) : Response.json(result)
        } finally {
          leave()
        }
      } finally {
        visitor.leave()
      }
    })
  const bodyOf = async (c: Context, { bodyBytes }: Visitor, takes: Takes): Promise<Body> => {
    const most = takes === 'place' ? host.limits.bodyBytes : mostSmallBytes
    return readRequest(c.req.raw, Math.min(bodyBytes ?? Number.POSITIVE_INFINITY, most))
  }
  const post = (path: string, handler: (owner: string, value: unknown) => unknown, takes?: Takes) =>
    route('POST', path, (owner, body) => handler(owner, jsonOf(body)), takes)

  app.get('/healthz', () => Response.json({ status: 'ok' }))
  // Parts of a pass are sent one after another, so they come in order.
  post('/client/config', () => ({
    pjwt_auth_enabled: false,
    parallel_fwdbwd_chunks: false,
    proto_compress_fwdbwd: false,
  }))
  post('/client/dynamic_config', () => ({}))
  post('/telemetry', () => ({ status: 'accepted' }))
  route('GET', '/get_server_capabilities', () => ({
    supported_models: [
      {
        model_name: base,
        max_context_length: sampler.capabilities.contextLength,
        trainable: true,
        sampleable: true,
        // Beyond the protocol: our client compares what is served with what is trained to this.
        ...(sampler.capabilities.agreement !== undefined && { agreement: sampler.capabilities.agreement }),
      },
    ],
  }))

  post('/create_session', (owner) => sessions.create(owner))
  // Without it a session ends: no work of its key may keep it out.
  post('/session_heartbeat', (owner, value) => sessions.beat(owner, value), 'nothing')
  route('POST', '/sessions/:id/finish', (owner, _, c) => sessions.finish(owner, param(c, 'id')))

  post('/create_model', (owner, value) => models.createModel(host, owner, value))
  post('/load_weights', (owner, value) => models.loadWeights(host, owner, value))
  post('/unload_model', (owner, value) => models.unloadModel(host, owner, value))
  post('/get_info', (owner, value) => models.modelInfo(host, owner, value))
  post('/weights_info', (owner, value) => models.weightsInfo(host, owner, value))

  route('POST', '/forward_backward', (owner, body) => {
    if (body.type === 'protobuf') return training.pass(host, owner, readPassBody(body.bytes))
    const { forward_backward_input: input, ...rest } = readBody(ForwardBackward, body.value)
    return training.pass(host, owner, passOf(rest, input, false))
  })
  post('/forward', (owner, value) => {
    const { forward_input: input, ...rest } = readBody(Forward, value)
    return training.pass(host, owner, passOf(rest, input, true))
  })
  post('/optim_step', (owner, value) => training.optimStep(host, owner, value))
  post('/save_weights', (owner, value) => training.saveWeights(host, owner, value))
  post('/save_weights_for_sampler', (owner, value) => training.saveForSampler(host, owner, value))

  post('/create_sampling_session', (owner, value) => sampling.createSamplingSession(host, owner, value))
  post('/asample', (owner, value) => sampling.sample(host, owner, value))
  route('GET', '/samplers/:id', (owner, _, c) => sampling.samplerInfo(host, owner, param(c, 'id')))
  const poll: Handler = (owner, body, c) =>
    retrieve(host, owner, jsonOf(body), {
      signal: c.req.raw.signal,
      // A client that reads both is told JSON.
      wantsProtobuf: c.req.header('accept')?.trim() === protobufType,
    })
  route('POST', '/retrieve_future', poll, 'no place')

  route('GET', '/training_runs', (owner) => checkpoints.trainingRuns(host, owner))
  route('GET', '/training_runs/:run', (owner, _, c) => checkpoints.runOf(host, param(c, 'run'), owner))
  route('GET', '/checkpoints', (owner) => checkpoints.listCheckpoints(host, owner, null))
  for (const parent of ['training_runs', 'models']) {
    const of = `/${parent}/:run/checkpoints`
    route('GET', of, (owner, _, c) => checkpoints.listCheckpoints(host, owner, param(c, 'run')))
    route('DELETE', `${of}/:kind/:name`, (owner, _, c) => checkpoints.deleteCheckpoint(host, owner, pathOf(c)))
    route('GET', `${of}/:kind/:name/download`, async (owner, _, c) => {
      const bytes = await checkpoints.checkpointBytes(host, owner, pathOf(c))
      return new Response(Buffer.from(bytes), { headers: { 'content-type': 'application/octet-stream' } })
    })
  }

  app.notFound(() =>
    problemResponse(
      requestError('no-such-route', 'Not Found.', 'See docs/trainers.md.', { status: 404 }),
      onUnexpected,
    ),
  )
  app.onError((error) => problemResponse(error, onUnexpected))
  return app
}

const param = (c: Context, name: string): string => c.req.param(name) ?? ''

const pathOf = (c: Context): string => `tinker://${param(c, 'run')}/${param(c, 'kind')}/${param(c, 'name')}`

function jsonOf(body: Body): unknown {
  if (body.type === 'json') return body.value
  throw requestError('wrong-type', 'This endpoint reads no protobuf.', 'Send JSON.', {
    status: 415,
    field: 'content-type',
  })
}

const passOf = (
  { model_id, seq_id }: { readonly model_id: string; readonly seq_id?: number | null | undefined },
  input: PassInputBody,
  forwardOnly: boolean,
) => ({
  modelId: model_id,
  seqId: seq_id ?? null,
  forwardOnly,
  data: rawData(input),
  loss: input.loss_fn,
  config: input.loss_fn_config ?? {},
})
