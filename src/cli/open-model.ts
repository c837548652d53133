import pc from 'picocolors'
import type { ModelService, Precision } from '../core/index.ts'
import { InputError } from '../errors/index.ts'
import { type Device, openEmbeddedModel } from '../model/index.ts'
import { openTinkerModel, type TinkerEvent } from '../model/tinker/index.ts'
import type { Plan } from '../recipe/index.ts'
import { visible } from './visible.ts'

/** The model that a run learns on. */
export interface OpenedModel {
  readonly service: ModelService
  /** What the embedded engine multiplies in; `null`: a server knows. */
  readonly precision: Precision | null
  readonly countTokens: (text: string) => number
}

/**
 * Opens a plan's model: in the embedded engine, or at the server that the configuration names. The key of a server is
 * `TINKER_API_KEY`, as for the official SDK.
 * @param say takes lines for people: what the server makes wait, and what it does not heed.
 * @throws InputError (`input/embedded-only`) for what only the embedded engine can do.
 */
export async function openModel(
  { config, deterministic }: Plan,
  device: Device | undefined,
  say: (line: string) => void,
): Promise<OpenedModel> {
  const { model, renderer, precision, server } = config
  if (!server) {
    return openEmbeddedModel({ reference: model, renderer, precision, deterministic, device: device ?? 'cpu' })
  }
  const own = { deterministic, device: device !== undefined, precision: precision !== 'auto' }
  const [flag] = Object.entries(own).flatMap(([name, given]) => (given ? [name] : []))
  if (flag !== undefined) {
    throw new InputError({
      code: 'input/embedded-only',
      message: `--${flag} is for the embedded engine, and the model is at ${server.url}.`,
      hint: `Leave --${flag} out, or the server.`,
    })
  }
  const { service, countTokens } = await openTinkerModel({
    ...server,
    server: server.kind,
    baseModel: model,
    renderer,
    ...(process.env.TINKER_API_KEY && { apiKey: process.env.TINKER_API_KEY }),
    onEvent: (event) => {
      const line = told(event)
      if (line !== null) say(pc.dim(visible(line)))
    },
  })
  return { service, countTokens, precision: null }
}

/** What a person should know of a server's; `null`: nothing. */
function told(event: TinkerEvent): string | null {
  if (event.type === 'paused') return `The server holds ${event.request} back: ${event.detail ?? event.reason}`
  if (event.type === 'resumed') return `The server goes on after ${Math.round(event.waitedMs / 1000)} s`
  if (event.type === 'retried') return `${event.request} is sent again: ${event.why}`
  if (event.type === 'heartbeat-failed') return `The server does not answer: ${event.why}`
  return event.type === 'ignored' ? `The server does not heed ${event.option}: ${event.why}` : null
}
