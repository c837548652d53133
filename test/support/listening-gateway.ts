import OpenAI from 'openai'
import { createGateway, type GatewayOptions, serve, ServeConfig, type ServeOptions } from '../../src/gateway/index.ts'
import { openAiUpstream, type OpenAiUpstreamOptions } from '../../src/model/openai/index.ts'
import { keepingTelemetry, openDoor, rememberingRecorder } from './gateway-parts.ts'
import { startUpstream, type UpstreamOptions } from './upstream-server.mjs'

/** A gateway that listens, in front of a scripted upstream that listens, too, with everything else kept in memory. */
export async function listeningGateway({
  upstream: scripted = {},
  reaching = {},
  config = {},
  serving = {},
  ...options
}: {
  readonly upstream?: UpstreamOptions
  readonly reaching?: Partial<OpenAiUpstreamOptions>
  readonly config?: object
  readonly serving?: Partial<ServeOptions>
} & Partial<Omit<GatewayOptions, 'config' | 'upstream'>> = {}) {
  const upstream = await startUpstream(scripted)
  const model = openAiUpstream({ name: 'scripted', url: upstream.url, ...reaching })
  const recorder = rememberingRecorder()
  const door = openDoor()
  const telemetry = keepingTelemetry()
  const gateway = createGateway({
    config: ServeConfig.parse(config),
    upstream: model,
    recorder,
    doorkeeper: door,
    telemetry,
    ...options,
  })
  const served = await serve(gateway, { host: '127.0.0.1', port: 0, graceMs: 1_000, ...serving })
  return {
    gateway,
    upstream,
    recorder,
    door,
    telemetry,
    url: served.url,
    port: served.port,
    /** OpenAI's own client, which does not try again by itself. */
    client: (path = '/v1') => new OpenAI({ baseURL: `${served.url}${path}`, apiKey: 'none', maxRetries: 0 }),
    post: (path: string, body: unknown, headers: Record<string, string> = {}) =>
      fetch(`${served.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    async close() {
      await served.close()
      await model.close()
      await upstream.close()
    },
  }
}

export type ListeningGateway = Awaited<ReturnType<typeof listeningGateway>>
