import { LRUCache } from 'lru-cache'
import {
  canonicalHashInParts,
  canonicalJson,
  contentHash,
  messagesOf,
  partSize,
  sha256,
  toolsOf,
  turns,
} from '../../core/index.ts'
import type { AssistantMessage, ChatRequest, Json, Message, ToolDefinition } from '../../core/index.ts'
import { rendersRedacted } from './call-params.ts'
import type { ShownRequest } from '../agents/index.ts'
import { type Redaction, readBy, redactMessage, redactTools } from './redaction/index.ts'
import { joined, looseForm, otherParts, type Spoken, spokenForm, spokenOf } from './spoken.ts'

/** A point in a conversation: by what it is known again, and from where its continuation is hashed. */
export interface Point {
  /** Hash of all messages so far. */
  readonly exact: string
  /** After an assistant turn, the same whatever became of its calls; `null` after other messages. */
  readonly loose: string | null
  /** The turn that ends here, if it is an assistant's: its messages in a row are one turn. */
  readonly spoken: Spoken | null
  /** The hash before that turn. */
  readonly before: string
}

/** Before the first message. */
export const beginning: Point = { exact: '', loose: null, spoken: null, before: '' }

/**
 * Messages in a row that are one turn, at most: each of them is hashed with those before it, and whoever sends thousands
 * must not keep the gateway busy with them, or fill its memory.
 */
const mostJoined = 8

/** The point after one more message. */
export function after(point: Point, message: Message): Point {
  const { before, exact, loose, spoken } = hashedOf(point, message)
  return {
    exact: digest(before, exact),
    loose: loose === null ? null : digest(before, loose),
    spoken,
    before,
  }
}

/** The same after a message that may be long: it is hashed in parts, and others are served between them. */
export async function afterLong(point: Point, message: Message): Promise<Point> {
  const { before, exact, loose, spoken } = hashedOf(point, message)
  return {
    exact: await digestInParts(before, exact),
    loose: loose === null ? null : await digestInParts(before, loose),
    spoken,
    before,
  }
}

/** What a point's hashes are made of. */
interface Hashed extends Pick<Point, 'spoken' | 'before'> {
  readonly exact: Json
  readonly loose: Json | null
}

function hashedOf(point: Point, message: Message): Hashed {
  if (message.role !== 'assistant') {
    return { exact: form(message), loose: null, spoken: null, before: point.exact }
  }
  const begun = point.spoken && point.spoken.messages < mostJoined ? point.spoken : null
  const before = begun ? point.before : point.exact
  const spoken = begun ? joined(begun, spokenOf(message)) : spokenOf(message)
  return { exact: spokenForm(spoken), loose: looseForm(spoken), spoken, before }
}

/** A request's conversation as it is recorded: after redaction. */
export interface Conversation {
  /** As the policy reads them. */
  readonly messages: readonly Message[]
  /** After each message, by what the client sent: a learned text in its place changes no point. */
  readonly points: readonly Point[]
  /**
   * Hash of the system message that it begins with, as the policy reads it, and of all up to what was recalled where that is
   * read; `''` for none.
   */
  readonly opening: string
  readonly tools: Toolset | null
  /**
   * Whether a message, a tool, or what else the prompt is rendered by was something else before: then no tokens of this
   * call may be kept.
   */
  readonly redacted: boolean
  /** Of which messages that is so. */
  readonly redactedMessages: readonly boolean[]
}

/** The tools of a call, and their content hash. */
export interface Toolset {
  readonly key: string
  readonly definitions: readonly ToolDefinition[]
}

/**
 * Reads the conversation of a request, and takes out what must not be written.
 * @param weight of the request: a heavy one is read in parts, and others are served between them.
 */
export async function conversationOf(request: ChatRequest, redaction: Redaction, weight = 0): Promise<Conversation> {
  await turns.next(weight)
  const read = messagesOf(request.messages)
  await turns.next(weight)
  const tools = await readBy(redaction, weight, (by) => toolsetOf(request, by))
  const messages: ReturnType<typeof redactMessage>[] = []
  const points: Point[] = []
  // A turn of several messages is hashed again with each of them.
  const part = (weight / Math.max(1, read.length)) * mostJoined
  let done = 0
  for (const message of read) {
    done += Math.max(part, message.content.length * mostJoined)
    const next = turns.next(done)
    if (next !== null) {
      done = 0
      await next
    }
    const reads = readBy(redaction, weight, (by) => redactMessage(message, by))
    const redacted = reads instanceof Promise ? await reads : reads
    messages.push(redacted)
    const before = points.at(-1) ?? beginning
    points.push(weight > partSize ? await afterLong(before, redacted.value) : after(before, redacted.value))
  }
  const values = messages.map(({ value }) => value)
  const redactedMessages = messages.map(({ changed }) => changed)
  const rendered = await readBy(redaction, weight, (by) => rendersRedacted(request, by))
  return {
    messages: values,
    points,
    opening: openingOf(values, points),
    tools: tools.toolset,
    redacted: tools.changed || redactedMessages.includes(true) || rendered,
    redactedMessages,
  }
}

function toolsetOf(request: ChatRequest, redaction: Redaction) {
  const { value, changed } = redactTools(toolsOf(request.tools ?? []), redaction)
  return { toolset: value.length > 0 ? { key: toolsetKey(value), definitions: value } : null, changed }
}

/**
 * The same conversation, read with learned texts and with what was recalled: it is known again by what the client sent, and
 * recorded as it was read. What was read already is not read again: how long an answer takes to begin would tell an arm of a
 * canary.
 * @param sent the client's own.
 * @param shown the request as it goes on to the upstream.
 */
export async function readAs(
  sent: Conversation,
  { request, texts, inserted, recalledAt }: ShownRequest,
  redaction: Redaction,
  weight = 0,
): Promise<Conversation> {
  const replaced = texts.some(({ parameter }) => parameter === 'system')
  const ours = [...(replaced ? [0] : []), ...(recalledAt === null ? [] : [recalledAt])]
  const wire = messagesOf(ours.flatMap((at) => request.messages[at] ?? []))
  await turns.next(weight)
  const read = await readBy(redaction, weight, (by) => wire.map((one) => redactMessage(one, by)))
  const { toolset, changed } = await readBy(redaction, weight, (by) => toolsetOf(request, by))
  const rendered = await readBy(redaction, weight, (by) => rendersRedacted(request, by))
  const messages = [...sent.messages]
  const points = [...sent.points]
  const redactedMessages = [...sent.redactedMessages]
  for (const [i, at] of ours.entries()) {
    const one = read[i]
    if (one === undefined) break
    const stands = at === 0 && replaced && !inserted
    messages.splice(at, stands ? 1 : 0, one.value)
    redactedMessages.splice(at, stands ? 1 : 0, one.changed)
    if (!stands) points.splice(at, 0, points[at - 1] ?? beginning)
  }
  return {
    messages,
    points,
    opening: ours.length === 0 ? sent.opening : openingAsRead(messages, recalledAt),
    tools: toolset,
    redacted: changed || redactedMessages.includes(true) || rendered,
    redactedMessages,
  }
}

/** @param recalledAt where what was recalled stands, which the opening goes up to; `null`: it is the first message. */
function openingAsRead(messages: readonly Message[], recalledAt: number | null): string {
  const read = messages.slice(0, (recalledAt ?? 0) + 1)
  const points: Point[] = []
  for (const message of read) points.push(after(points.at(-1) ?? beginning, message))
  return recalledAt === null ? openingOf(read, points) : (points.at(-1) ?? beginning).exact
}

/** @param points after each of the messages. */
export function openingOf([first]: readonly Message[], [point]: readonly Point[]): string {
  return first?.role === 'system' ? (point?.exact ?? '') : ''
}

/** Keys by the text of their tools, of which an agent sends the same with every call. */
const toolsetKeys = new LRUCache<string, string>({
  maxSize: 4 * 1024 * 1024,
  maxEntrySize: 256 * 1024,
  sizeCalculation: (_, { length }) => length,
})

function toolsetKey(tools: readonly ToolDefinition[]): string {
  const text = JSON.stringify(tools)
  const known = toolsetKeys.get(text)
  if (known !== undefined) return known
  const key = contentHash(tools.map((tool) => ({ ...tool })))
  toolsetKeys.set(text, key)
  return key
}

function form(message: Exclude<Message, AssistantMessage>): Json {
  const { role, content } = message
  const other = otherParts(message)
  switch (role) {
    case 'system':
      return [role, content, other]
    case 'user':
      return [role, content, other, message.name ?? null]
    case 'tool':
      return [role, content, other, message.toolCallId ?? null]
  }
}

/** 160 bits: shorter than the whole, and nobody finds two conversations with the same. */
const digestLength = 40

function digest(before: string, said: Json): string {
  return sha256(`${before}\n${canonicalJson(said)}`).slice(0, digestLength)
}

async function digestInParts(before: string, said: Json): Promise<string> {
  return (await canonicalHashInParts(`${before}\n`, said)).slice(0, digestLength)
}
