import type { MessagePort } from 'node:worker_threads'
import { z } from 'zod'
import { Json } from '../../core/index.ts'

/**
 * How code in a sandbox ended.
 * - `returned`: with a JSON value; what is no JSON, such as a function, is `null`.
 * - `threw`: it does not compile, or raised an error.
 * - `steps`: it was still running when its steps were spent: the same on every machine, so it is the code's own doing.
 * - `memory`: it asked for more than its cap.
 * - `deadline`: the clock stopped it, in one step without end. `starved`: this process had so little of the processor meanwhile
 *   that the machine, and not the code, may be to blame.
 */
export const SandboxOutcome = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('returned'), value: Json }),
  z.strictObject({ kind: z.literal('threw'), message: z.string() }),
  z.strictObject({ kind: z.enum(['steps', 'memory']) }),
  z.strictObject({ kind: z.literal('deadline'), starved: z.boolean() }),
])
export type SandboxOutcome = z.infer<typeof SandboxOutcome>

/** A call of what the code defined. */
export const SandboxCall = z.strictObject({
  /** A name that the code gives a function. */
  name: z.string().regex(/^[A-Za-z_$][\w$]*$/, 'no name of a function'),
  args: z.array(Json).default([]),
})

/** What the thread of a sandbox is sent. It checks nothing again: it runs many, and loads no more than it needs. */
export interface SandboxRequest {
  readonly code: string
  readonly call: z.output<typeof SandboxCall> | null
  readonly steps: number
  readonly memoryBytes: number
  /** Whether the code finds the function `host`. */
  readonly host: boolean
}

/** How a thread of a sandbox waits for what its code asked of `host`. */
export interface SandboxLine {
  /** One cell: 0 until the answer is there. */
  readonly bell: Int32Array<SharedArrayBuffer>
  /** Answers come here, as JSON text. */
  readonly answers: MessagePort
}

/** How it ended. */
export const SandboxEnd = z.union([
  z.strictObject({ kind: z.literal('returned'), json: z.string() }),
  z.strictObject({ kind: z.literal('threw'), message: z.string() }),
  z.strictObject({ kind: z.enum(['steps', 'memory']) }),
])
export type SandboxEnd = z.infer<typeof SandboxEnd>

/** What it says: its end, or before that what its code asks of `host`. */
export const SandboxReply = z.union([z.strictObject({ kind: z.literal('asks'), json: z.string() }), SandboxEnd])
