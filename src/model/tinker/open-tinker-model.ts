import { setMaxListeners } from 'node:events'
import type { AdapterRef, ModelService, Saved, TrainingMethod } from '../../core/index.ts'
import { pathOfModel } from '../embedded/load/load-model.ts'
import { type BaseModel, readBaseModel } from './base-model.ts'
import { Checkpoints } from './checkpoints.ts'
import type { OnTinkerEvent } from './events.ts'
import { loraShape } from './lora-shape.ts'
import { defaultLimits, type TinkerLimits, type TinkerModelOptions } from './options.ts'
import { PassWire } from './pass-wire.ts'
import { Publisher } from './publisher.ts'
import { Requests } from './requests.ts'
import { type ServerTraits, serverTraits } from './server-kind.ts'
import { TinkerSession } from './session.ts'
import { TinkerHttp } from './tinker-http.ts'
import { pathOf } from './path-of.ts'
import { TinkerSampler } from './tinker-sampler.ts'
import { TinkerTrainer } from './tinker-trainer.ts'

/** A model at a Tinker server, ready to sample, train and talk. */
export interface TinkerModelHandle {
  readonly service: ModelService
  /** What the server keeps of the models that were trained there. */
  readonly checkpoints: Checkpoints
  /** Tokens of a text, special spellings read as ordinary characters. */
  countTokens(text: string): number
}

/**
 * Opens a model at a server that speaks the Tinker protocol, in place of the embedded engine: SkyRL (JAX, FSDP, Megatron),
 * the hosted service, and others. The session at the server ends with {@link ModelService.close}.
 * @throws InputError for options that cannot be used, and for a base model that the server does not have.
 * @throws ModelNotFoundError, MalformedModelError, UnusableTemplateError for the folder or GGUF file.
 * @throws TinkerError when the server does not answer as the protocol says.
 */
export async function openTinkerModel(options: TinkerModelOptions): Promise<TinkerModelHandle> {
  const { baseModel, server = 'tinker', onEvent = () => {} } = options
  const limits: TinkerLimits = { ...defaultLimits, ...options.limits }
  const base = await baseOf(options)
  const http = new TinkerHttp({ ...limits, url: options.url, apiKey: options.apiKey ?? null })
  const ending = new AbortController()
  const scope = options.signal === undefined ? ending.signal : AbortSignal.any([ending.signal, options.signal])
  // Every request under way listens to it.
  setMaxListeners(0, scope)
  const requests = new Requests(http, { ...limits, onEvent }, scope)
  const wire = new PassWire(requests, options.wire ?? 'ask')
  try {
    const session = await TinkerSession.open({ requests, wire, baseModel, heartbeatMs: limits.heartbeatMs, onEvent })
    const agreement = options.agreement ?? session.agreement
    const connection = { http, ending, requests, session, limits, onEvent, agreement, traits: serverTraits[server] }
    const contextLength = Math.min(options.contextLength ?? base.contextLength, base.contextLength)
    return handle(baseModel, { ...base, contextLength }, connection)
  } catch (error) {
    await http.close()
    throw error
  }
}

/**
 * Which model {@link openTinkerModel} opens, by its folder here: no server is asked.
 * @throws ModelNotFoundError, MalformedModelError, UnusableTemplateError
 */
export async function tinkerBase(
  options: Pick<TinkerModelOptions, 'baseModel' | 'folder' | 'renderer'>,
): Promise<Pick<ModelService, 'base' | 'baseHash'>> {
  const { hash } = await baseOf(options)
  return { base: options.baseModel, baseHash: hash }
}

async function baseOf({
  baseModel,
  folder,
  renderer = 'template',
}: Parameters<typeof tinkerBase>[0]): Promise<BaseModel> {
  return readBaseModel(folder ?? (await pathOfModel(baseModel)), baseModel, renderer)
}

interface Connection {
  readonly http: TinkerHttp
  readonly ending: AbortController
  readonly requests: Requests
  readonly session: TinkerSession
  readonly limits: TinkerLimits
  readonly onEvent: OnTinkerEvent
  readonly traits: ServerTraits
  readonly agreement: number | null
}

function handle(name: string, base: BaseModel, connection: Connection): TinkerModelHandle {
  const { requests, session, limits, onEvent, traits, agreement } = connection
  const { tokenizer, renderer, vocabularySize, contextLength } = base
  const checkpoints = new Checkpoints(requests, onEvent)
  const sampler = new TinkerSampler({
    requests,
    capabilities: {
      model: name,
      vocabularySize,
      contextLength,
      deterministic: false,
      temperatures: false,
      ...(agreement !== null && { agreement }),
    },
    decode: (tokens) => tokenizer.decode(tokens),
    openBase: () => session.samplingSession({ base_model: name }),
  })
  const publisher = new Publisher({ session, sampler, checkpoints, publishes: traits.publishes })
  const ignored = once(onEvent)
  let closing: Promise<void> | null = null
  const service: ModelService = {
    base: name,
    baseHash: base.hash,
    sampler,
    renderer,
    async trainer(method, seed) {
      const shape = loraShape(method, seed)
      tellOfAlpha(method, traits, ignored)
      return new TinkerTrainer(await session.createModel(shape), {
        ...limits,
        limits: { vocabSize: vocabularySize, maxPositions: contextLength },
        traits,
        checkpoints,
        create: () => session.createModel(shape),
        unload: (model) => session.unloadModel(model),
        publish: (model): Promise<AdapterRef> => publisher.publish(model, shape),
        ignored,
      })
    },
    loadAdapter: async (saved: Saved) => publisher.load(pathOf(saved)),
    close() {
      closing ??= ended(connection)
      return closing
    },
  }
  return { service, checkpoints, countTokens: (text) => tokenizer.encode(text).length }
}

async function ended({ session, ending, http }: Connection): Promise<void> {
  try {
    await session.close()
  } finally {
    ending.abort()
    await http.close()
  }
}

/** The protocol has no alpha. */
function tellOfAlpha(method: TrainingMethod, { loraAlpha }: ServerTraits, ignored: TellIgnored): void {
  if (method.kind !== 'lora' || method.alpha === loraAlpha) return
  ignored(
    'alpha',
    `the server chooses it${loraAlpha === null ? '' : `: ${loraAlpha}`}, and ${method.alpha} was asked for`,
  )
}

type TellIgnored = (option: string, why: string) => void

function once(onEvent: OnTinkerEvent): TellIgnored {
  const told = new Set<string>()
  return (option, why) => {
    if (told.has(option)) return
    told.add(option)
    onEvent({ type: 'ignored', option, why })
  }
}
