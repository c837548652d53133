import { type ModelService, type Precision, type PrecisionChoice, visible } from '../core/index.ts'
import { InputError } from '../errors/index.ts'
import { type Device, openEmbeddedModel } from '../model/index.ts'
import {
  openTinkerModel,
  tinkerBase,
  type TinkerEvent,
  type TinkerLimits,
  type TinkerServer,
} from '../model/tinker/index.ts'

/** Which model, and where: what configurations of runs and of upstreams say alike. */
export interface ModelPlace {
  readonly model: string
  readonly renderer: 'compact' | 'template'
  readonly precision: PrecisionChoice
  /** Absent: the embedded engine. */
  readonly server?: TinkerServer
}

export interface OpenModelOptions {
  /** For the embedded engine only. */
  readonly deterministic?: boolean
  readonly device?: Device
  /** For a server only. Default: as long as a run can wait. */
  readonly limits?: Partial<TinkerLimits>
  /** For a server only: its key. Default: `TINKER_API_KEY`. */
  readonly apiKey?: string
  /** For a server only: ends opening, and everything that follows. */
  readonly signal?: AbortSignal
}

/** A model that samples, trains and talks. */
export interface OpenedModel {
  readonly service: ModelService
  /** What the embedded engine multiplies in; `null`: a server knows. */
  readonly precision: Precision | null
  readonly countTokens: (text: string) => number
}

/**
 * Opens a model: in the embedded engine, or at a server. The key of a server is `TINKER_API_KEY` where
 * none is given, as for the official SDK.
 * @param say takes lines for people: what the server makes wait, and what it does not heed.
 * @throws InputError (`input/embedded-only`) for what only the embedded engine has.
 */
export async function openModel(
  { model, renderer, precision, server }: ModelPlace,
  { deterministic = false, device, limits, signal, apiKey = process.env.TINKER_API_KEY }: OpenModelOptions,
  say: (line: string) => void,
): Promise<OpenedModel> {
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
  const { url, kind, agreement } = server
  const tell = tellingOnce((line) => say(visible(line)))
  const opened = await openTinkerModel({
    url,
    server: kind,
    ...(agreement !== undefined && { agreement }),
    ...placeAt(server, { model, renderer }),
    ...(apiKey && { apiKey }),
    ...(limits && { limits }),
    ...(signal && { signal }),
    onEvent: tell,
  })
  return { service: opened.service, precision: null, countTokens: (text) => opened.countTokens(text) }
}

/** Which model {@link openModel} opens at a server, which is not asked. @throws what reading its folder throws. */
export const baseAtServer = (
  server: TinkerServer,
  place: Pick<ModelPlace, 'model' | 'renderer'>,
): ReturnType<typeof tinkerBase> => tinkerBase(placeAt(server, place))

const placeAt = ({ folder }: TinkerServer, { model, renderer }: Pick<ModelPlace, 'model' | 'renderer'>) => ({
  baseModel: model,
  renderer,
  ...(folder !== undefined && { folder }),
})

const restMs = 600_000

/**
 * Tells a person what a server does. Each thing is told once in ten minutes, until the server goes on: up to 64 requests wait
 * at a time, and each asks again and again.
 */
export function tellingOnce(say: (line: string) => void, now = () => performance.now()): (event: TinkerEvent) => void {
  const told = new Map<string, number>()
  return (event) => {
    const line = lineOf(event)
    if (line === null || now() - (told.get(line) ?? -Infinity) < restMs) return
    if (event.type === 'resumed') told.clear()
    told.set(line, now())
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
