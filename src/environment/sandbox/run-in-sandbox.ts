import { Worker } from 'node:worker_threads'
import { z } from 'zod'
import { Json, parseInput } from '../../core/index.ts'
import { builtEntry, InvariantError } from '../../errors/index.ts'
import { SandboxCall, SandboxEnd, type SandboxOutcome, type SandboxRequest } from './outcome.ts'

const SandboxOptions = z.strictObject({
  /** A function to call once the code has run; its value is the outcome's. Default: the value of the code's last expression. */
  call: SandboxCall.nullable().default(null),
  /** Jumps and calls that the code may make, to about 10,000. Default 10 million: about a second. */
  steps: z.number().positive().default(10_000_000),
  /** Memory of the code, in bytes. Default 32 MiB. */
  memoryBytes: z.int().min(1_048_576).max(1_073_741_824).default(33_554_432),
  /** When the clock stops it, in milliseconds, start included. Default 10,000: long after its steps are spent. */
  deadlineMs: z.number().positive().max(600_000).default(10_000),
})

/**
 * Runs JavaScript (ES2023) that nobody vouches for, in QuickJS compiled to WebAssembly, in a thread of its own that ends with it. It
 * reaches no disk, no network, no process, no module and no timer: there are none. Promises are not awaited.
 * @throws InputError for options that it does not know; InvariantError when the sandbox itself fails. Whatever the code does
 * is an outcome.
 */
export async function runInSandbox(
  code: string,
  options: z.input<typeof SandboxOptions> = {},
): Promise<SandboxOutcome> {
  const { deadlineMs, ...limits } = parseInput(SandboxOptions, options, 'The limits of a sandbox')
  const request: SandboxRequest = { code, ...limits }
  const thread = new Worker(builtEntry(import.meta.url, './sandbox-entry.js'), {
    workerData: request,
    env: {},
    stdin: false,
  })
  try {
    return await outcomeOf(thread, deadlineMs)
  } finally {
    await thread.terminate()
  }
}

function outcomeOf(thread: Worker, deadlineMs: number): Promise<SandboxOutcome> {
  return new Promise((resolve, reject) => {
    const before = process.cpuUsage()
    const clock = setTimeout(() => {
      // Of all threads together, in microseconds: the code's own had no more.
      const { user, system } = process.cpuUsage(before)
      resolve({ kind: 'deadline', starved: user + system < 500 * deadlineMs })
    }, deadlineMs)
    const failed = (cause: unknown) => {
      clearTimeout(clock)
      reject(new InvariantError('the sandbox ended without an outcome', cause))
    }
    thread.once('error', failed)
    thread.once('exit', failed)
    thread.once('message', (message) => {
      clearTimeout(clock)
      const end = SandboxEnd.safeParse(message)
      if (end.success) resolve(outcomeFrom(end.data))
      else failed(end.error)
    })
  })
}

function outcomeFrom(end: SandboxEnd): SandboxOutcome {
  return end.kind === 'returned' ? { kind: 'returned', value: Json.safeParse(JSON.parse(end.json)).data ?? null } : end
}
