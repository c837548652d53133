import { type ChatRequest, contentHash, Json } from '../../core/index.ts'
import { type Redaction, redactObject } from './redaction/index.ts'

/** What has its own place in a record. */
const elsewhere = new Set(['model', 'messages', 'tools', 'functions'])

/**
 * Names of fields that say who the client or its user is, or that hold what nobody may read: `user`, `metadata`,
 * `safety_identifier`, `prompt_cache_key`, `api_key`, `extra_headers`, `user_location` …
 */
const aboutClient =
  /(?:^|[_-])(?:user|metadata|identifier|account|organi[sz]ation|customer|session|trace|tags|location|headers?|cookies?|authorization|auth|credentials?|passwords?|secrets?|key|keys|bearer|api_?key|apikey)(?:[_-]|$)|(?:access|auth|api|refresh|id|bearer|session)[_-]?tokens?$/i

/** Of one field, in characters of JSON: a response format may have a schema of many pages. */
const longestValue = 16_384
const mostFields = 64
const longestName = 64

/**
 * A request without messages, tools and what names the client: what {@link ModelCall} keeps of it. What is too long is
 * left out, and said to be.
 */
export function callParams(request: ChatRequest, redaction: Redaction): Record<string, Json> {
  const params: Record<string, Json> = {}
  let kept = 0
  for (const [key, value] of Object.entries(request)) {
    if (value === undefined || value === null || elsewhere.has(key) || aboutClient.test(key)) continue
    if (key.length > longestName || key === '__proto__' || kept === mostFields) continue
    params[key] = shortened(value)
    kept += 1
  }
  return redaction.active ? { ...redactObject(params, redaction).value } : params
}

function shortened(value: unknown): Json {
  const parsed = Json.safeParse(value)
  if (!parsed.success) return '[left out: not JSON]'
  const clean = withoutClient(parsed.data)
  const length = JSON.stringify(clean).length
  return length <= longestValue ? clean : `[left out: ${length} characters]`
}

/** Where a JSON Schema names properties: descriptions of values, not values. */
const schemaNames = new Set(['properties', 'patternProperties', '$defs', 'definitions'])

/** The same at any depth. */
function withoutClient(value: Json, named = false): Json {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item: Json) => withoutClient(item))
  const entries = Object.entries(value as Readonly<Record<string, Json>>)
  return Object.fromEntries(
    entries
      .filter(([key, item]) => (named && typeof item === 'object') || !aboutClient.test(key))
      .map(([key, item]) => [key, withoutClient(item, schemaNames.has(key))]),
  )
}

/** Fields that decide how a prompt is rendered, beside messages and tools. */
const rendering = ['chat_template', 'chat_template_kwargs', 'documents', 'reasoning_effort']

/** Whether one of them has what must not be written: then the prompt's tokens would tell it. */
export function rendersRedacted(request: ChatRequest, redaction: Redaction): boolean {
  if (!redaction.active) return false
  return rendering.some((key) => {
    const value = Json.safeParse(request[key] ?? null)
    return !value.success || redactObject({ [key]: value.data }, redaction).changed
  })
}

/**
 * Hash of everything but the messages that a prompt is rendered by: the exact tokens of an earlier one may go on being
 * used only where it is the same.
 */
export function promptShape(model: string, tools: string | null, params: Readonly<Record<string, Json>>): string {
  return contentHash([model, tools, rendering.map((key) => params[key] ?? null)]).slice(0, 16)
}
