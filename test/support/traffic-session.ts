import { type Message, type ModelCall, type Signal, type StopReason, Trajectory } from '../../src/core/index.ts'

/** One message of a session: ours, when a call produced it. */
export interface SaidSketch {
  readonly id: string
  readonly parent: string | null
  readonly message: Message
  readonly at: number
  readonly call?: Partial<ModelCall>
}

export interface SessionSketch {
  readonly id?: string
  readonly origin?: { readonly key?: string; readonly subject?: string | null; readonly session?: string | null }
  readonly stopReason?: StopReason
  readonly failure?: Trajectory['failure']
}

const calledWith = (id: string, at: number, given: Partial<ModelCall>) => ({
  id,
  choice: 0,
  model: 'm',
  upstream: 'u',
  servedModel: 'm',
  params: {},
  tools: null,
  finish: 'stop',
  usage: null,
  upstreamId: null,
  startedAt: at - 1,
  firstTokenMs: null,
  totalMs: 1_000,
  retryOf: null,
  ...given,
})

/** A recorded session from the few things that a test is about. */
export function sessionOf(said: readonly SaidSketch[], sketch: SessionSketch = {}): Trajectory {
  const { id = 's1', origin = {}, stopReason = 'done', failure = null } = sketch
  const produced = said.flatMap((one) => (one.call ? [{ ...one, call: one.call }] : []))
  const instruction = said.find(({ message }) => message.role === 'user')?.message.content ?? '(empty)'
  return Trajectory.parse({
    id,
    origin: {
      kind: 'traffic',
      tenant: 'default',
      key: 'k',
      session: null,
      agent: 'a',
      subject: null,
      train: true,
      ...origin,
    },
    task: { id: `traffic:${id}`, instruction, split: 'train' },
    group: id,
    attempt: 0,
    seed: 0,
    nodes: said.map(({ id: node, parent, message, at }) => ({ id: node, parent, message, spans: [], at })),
    steps: produced.map(({ id: node, call, at }, index) => ({
      index,
      action: node,
      observations: [],
      decisions: [],
      // As the gateway tells who broke an answer off.
      call: calledWith(
        node,
        at,
        stopReason === 'cancelled' && call.finish === null ? { cancelled: true, ...call } : call,
      ),
    })),
    decisions: [],
    stopReason,
    failure,
    finalState: null,
    startedAt: 0,
    seconds: 0,
  })
}

/** A turn of a talk: what the user says, what a tool answers, what the model says, or what it calls. */
export type Line =
  | string
  | { readonly user: string }
  | { readonly tool: string; readonly isError?: boolean }
  | {
      readonly says: string
      readonly call?: Partial<ModelCall>
      readonly message?: Partial<Extract<Message, { role: 'assistant' }>>
    }

const spokenBy = (user: boolean, words: string): Exclude<Line, string> => (user ? { user: words } : { says: words })

/** A talk, line after line, one millisecond each: plain strings are the user's and the model's, in turns. */
export function talk(lines: readonly Line[], sketch: SessionSketch = {}): Trajectory {
  let usersTurn = true
  const said = lines.map((line, i): SaidSketch => {
    const place = { id: `n${i}`, parent: i === 0 ? null : `n${i - 1}`, at: i }
    const spoken = typeof line === 'string' ? spokenBy(usersTurn, line) : line
    if ('user' in spoken) {
      usersTurn = false
      return { ...place, message: { role: 'user', content: spoken.user } }
    }
    if ('tool' in spoken) {
      const { tool: content, isError } = spoken
      return { ...place, message: { role: 'tool', name: 't', content, ...(isError === undefined ? {} : { isError }) } }
    }
    usersTurn = true
    const message = { role: 'assistant' as const, content: spoken.says, ...spoken.message }
    return { ...place, message, call: spoken.call ?? {} }
  })
  return sessionOf(said, sketch)
}

/** A signal from the few things that a test is about. */
export function told(name: string, value: Signal['value'], more: Partial<Signal> = {}): Signal {
  return {
    tenant: 'default',
    key: `${name}:${JSON.stringify(value)}:${more.reporter ?? ''}:${more.at ?? 0}`,
    trajectory: 's1' as Signal['trajectory'],
    node: null,
    source: 'user',
    reporter: 'k',
    name,
    value,
    at: 0,
    ...more,
  }
}
