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
 * @throws InputError (`input/embedded-only`) for what only the embedded engine has.
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
  const [option] = Object.entries(own).flatMap(([name, given]) => (given ? [name] : []))
  if (option !== undefined) {
    throw new InputError({
      code: 'input/embedded-only',
      message: `The option ${option} is for the embedded engine, and the model is at ${server.url}.`,
      hint: `Leave ${option} out of the flags and the configuration, or the server.`,
    })
  }
  const { url, kind, folder } = server
  const tell = tellingOnce((line) => say(pc.dim(visible(line))))
  const opened = await openTinkerModel({
    url,
    server: kind,
    ...(folder !== undefined && { folder }),
    baseModel: model,
    renderer,
    ...(process.env.TINKER_API_KEY && { apiKey: process.env.TINKER_API_KEY }),
    onEvent: tell,
  })
  return { service: opened.service, precision: null, countTokens: (text) => opened.countTokens(text) }
}

/**
 * Tells a person what a server does. Each thing is told once, until the server goes on: up to 64 requests wait at a time, and
 * each asks again and again.
 */
export function tellingOnce(say: (line: string) => void): (event: TinkerEvent) => void {
  const told = new Set<string>()
  return (event) => {
    const line = lineOf(event)
    if (line === null || told.has(line)) return
    if (event.type === 'resumed') told.clear()
    told.add(line)
    say(line)
  }
}

function lineOf(event: TinkerEvent): string | null {
  if (event.type === 'paused') return `The server holds requests back: ${event.detail ?? event.reason}`
  if (event.type === 'resumed') return `The server goes on, after ${Math.round(event.waitedMs / 1000)} s`
  if (event.type === 'retried') return `Requests are sent again: ${event.why}`
  if (event.type === 'heartbeat-failed') return `The server does not answer: ${event.why}`
  return event.type === 'ignored' ? `The server does not heed ${event.option}: ${event.why}` : null
}
