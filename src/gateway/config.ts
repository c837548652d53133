import { z } from 'zod'
import { memoryBounds } from '../agent/index.ts'
import { ClientName, defaultTenant, PrecisionChoice, Tenant } from '../core/index.ts'
import { LearnFromTrafficConfig } from '../learn/index.ts'
import { TinkerServer } from '../model/tinker/index.ts'

const milliseconds = z.int().positive()

const Upstream = z.strictObject({
  /** For records, metrics and people. */
  name: z.string().min(1).max(64),
  /** The base URL of an OpenAI-compatible API, `/v1` included; `embedded`; or `tinker`, with `server`. */
  url: z.string().min(1),
  /** `tinker`: the server that has the model. */
  server: TinkerServer.exactOptional(),
  /** Environment variable that holds its key. Without one, the client's own Authorization goes on; `tinker`: `TINKER_API_KEY`. */
  keyEnv: z.string().min(1).optional(),
  /** `embedded`: the model to serve, a known name or the folder of a Hugging Face model. `tinker`: its name there. */
  model: z.string().min(1).default('minimind2-small'),
  /** `embedded` and `tinker`: how conversations are laid out: the model's own chat template, or the compact one-line form. */
  renderer: z.enum(['template', 'compact']).default('template'),
  /** `embedded` only: what the model's projections are multiplied in. */
  precision: PrecisionChoice.default('auto'),
  /** Names that clients ask for, and the names that this upstream knows them by. Others go on unchanged. */
  models: z.record(z.string(), z.string()).default({}),
  /** Whether it understands vLLM's `return_token_ids`. By default it is asked once, and the answer is remembered. */
  tellsTokens: z.enum(['yes', 'no', 'ask']).default('ask'),
  /** From the request until the answer begins, and between two pieces of it. */
  firstByteTimeoutMs: milliseconds.default(120_000),
  idleTimeoutMs: milliseconds.default(60_000),
  /** Tries after the first, where nothing of an answer has come: refused connections, 429, 5xx. */
  retries: z.int().nonnegative().max(10).default(2),
  /** Calls at once; more wait, and when more than `queue` wait, the client is told to come back. */
  concurrency: z.int().positive().default(256),
  queue: z.int().nonnegative().default(1_024),
  /** A larger answer is cut off as broken. */
  maxAnswerBytes: z
    .int()
    .positive()
    .default(32 * 1024 * 1024),
  /**
   * Whether its server loads adapters while it runs: vLLM does, where `VLLM_ALLOW_RUNTIME_LORA_UPDATING` is set. `embedded`
   * and `tinker` always do.
   */
  adapters: z.enum(['none', 'vllm']).default('none'),
  /** `adapters: vllm`: a folder that the server reads, too, under the same path; adapters are written into it. */
  adapterFolder: z.string().min(1).optional(),
  /** Adapters that are held at once; of those that no request uses, the least recently used goes. */
  mostAdapters: z.int().positive().default(8),
})
/** One place that answers requests. */
export const UpstreamConfig = Upstream.refine(({ url, server }) => (url === 'tinker') === (server !== undefined), {
  path: ['server'],
  error: 'goes with the url "tinker": an upstream has both, or neither',
})
export type UpstreamConfig = z.infer<typeof UpstreamConfig>

/** Whether an upstream is a model that Ratchet draws tokens from, in its engine or at a Tinker server. Only such can be trained. */
export const drawsTokens = ({ url }: UpstreamConfig): boolean => url === 'embedded' || url === 'tinker'

/** One kind of text that must not be written. */
export const RedactionRule = z.strictObject({
  /** Shown in its place: `[email]`. */
  name: z.string().regex(/^[a-z0-9-]{1,32}$/),
  /** A JavaScript regular expression, applied with the flags `gu`; or one of the built-in kinds. */
  pattern: z.string().min(1),
})
export type RedactionRule = z.infer<typeof RedactionRule>

/** The name of a tool whose description may be learned: the Parameter is called `tool-NAME`. */
export const LearnedTool = z.string().regex(/^[\w-]{1,59}$/, 'letters, digits, "_" or "-"; at most 59')

/** What an agent remembers of its sessions: `caseUtility` learns it. */
export const MemoryConfig = z.strictObject({
  /**
   * Whom a case reaches that a person's session taught: `subject`, that person alone, or `tenant`, everybody of the tenant.
   * A session about nobody teaches for everybody of the tenant.
   */
  share: z.enum(['subject', 'tenant']).default('subject'),
  /** Cases that are kept, at most. */
  capacity: z.int().positive().max(memoryBounds.items).default(2_000),
  /** Days after which a case is forgotten; `null`: not by age. */
  days: z.number().positive().nullable().default(null),
  /** Whether what did not work is remembered, too. */
  failures: z.boolean().default(false),
  /**
   * A sentence model, which finds what is worded otherwise: the name of one that `ratchet pull` fetched, or its folder. Without
   * one, words are compared.
   */
  embedder: z.string().min(1).exactOptional(),
})
export type MemoryConfig = z.infer<typeof MemoryConfig>

/** An agent whose releases are served, and that may learn: requests name it in the `ratchet-agent` header, or by their key. */
export const AgentConfig = z.strictObject({
  name: ClientName,
  /** Whose agent it is. Default: the gateway's own tenant. */
  tenant: Tenant.optional(),
  /** The model that it learns with, by the name that its requests ask for. */
  model: z.string().min(1).max(256),
  /** Rank of the adapters that are learned over it. */
  rank: z.int().positive().default(16),
  /** Its system prompt, word for word, where that may be learned: requests of a release that has another one get that. */
  system: z.string().min(1).optional(),
  /** Descriptions of its tools, word for word, where those may be learned. */
  tools: z.record(LearnedTool, z.string()).default({}),
  /** What it remembers of its sessions, and recalls in those that begin alike; without it, nothing. */
  memory: MemoryConfig.optional(),
  /** How it learns from its traffic; without it, it does not. */
  learn: LearnFromTrafficConfig.optional(),
})
export type AgentConfig = z.infer<typeof AgentConfig>

/** What `ratchet serve` reads from `--config FILE` (JSON). Every key has a default. */
export const ServeConfig = z.strictObject({
  host: z.string().default('127.0.0.1'),
  port: z.int().min(0).max(65_535).default(8787),
  /** Tried in order: the first that answers, answers. */
  upstreams: z
    .array(UpstreamConfig)
    .min(1)
    .prefault([{ name: 'embedded', url: 'embedded' }]),
  /** Agents that have releases; of others, requests go on as they came. */
  agents: z.array(AgentConfig).prefault([]),
  /** Whether an answer waits for the store: `required`, or `best-effort`, which says in a header what was not written. */
  record: z.enum(['required', 'best-effort']).default('required'),
  /** `auto`: keys are asked for once there are any; without one, only this machine is listened to. */
  auth: z.enum(['auto', 'required']).default('auto'),
  /** Whose data it is where no key says so. */
  tenant: Tenant.default(defaultTenant),
  /** False: nothing that is recorded may be learned from. */
  train: z.boolean().default(true),
  /** Built-in kinds (`email`, `phone`, `card`, `iban`, `ip`, `secret`) by name, and rules of your own. */
  redact: z.array(z.union([z.string(), RedactionRule])).default([]),
  limits: z
    .strictObject({
      bodyBytes: z
        .int()
        .positive()
        .default(16 * 1024 * 1024),
      /** Per key. */
      requestsPerMinute: z.int().positive().default(6_000),
      concurrency: z.int().positive().default(256),
      /** Of the key of a session, where that does not say itself; beside them, its maker's hold. */
      session: z
        .strictObject({
          requestsPerMinute: z.int().positive().default(600),
          concurrency: z.int().positive().default(32),
        })
        .prefault({}),
      signalsPerTrajectory: z.int().positive().default(32),
      /** Of all signals that come of one trajectory through one key: bytes of their values, as JSON. */
      signalBytesPerTrajectory: z
        .int()
        .positive()
        .default(4 * 1024 * 1024),
      signalsPerDay: z.int().positive().default(10_000),
    })
    .prefault({}),
  /** A stream that lasts longer than this is kept as it grows, this often: what dies midway leaves its half answer. */
  journalMs: milliseconds.default(500),
  /** How long a repeated request is known again. */
  idempotencyHours: z.number().positive().default(24),
})
export type ServeConfig = z.infer<typeof ServeConfig>
