import { z } from 'zod'
import { parseInput } from '../../core/index.ts'
import { keptThreads } from './kept-threads.ts'
import { SandboxCall, type SandboxOutcome } from './outcome.ts'
import { type SandboxHost, SandboxThread } from './sandbox-thread.ts'

const SandboxOptions = z.strictObject({
  /** A function to call once the code has run; its value is the outcome's. Default: the value of the code's last expression. */
  call: SandboxCall.nullable().default(null),
  /** Jumps and calls that the code may make, to about 10,000. Default 10 million: about a second. */
  steps: z.number().positive().default(10_000_000),
  /** Memory of the code in bytes, to 16 MiB: the engine's own lies in it. Default 32 MiB. */
  memoryBytes: z.int().min(1_048_576).max(1_073_741_824).default(33_554_432),
  /** When the clock stops it, in milliseconds, start included. Default 10,000: long after its steps are spent. */
  deadlineMs: z.number().positive().max(600_000).default(10_000),
  /**
   * `own`: a thread that ends with the code. `kept`: one that ran other code before, each in a QuickJS of its own: a hundred
   * times as fast, for code that runs often. Default `own`.
   */
  thread: z.enum(['own', 'kept']).default('own'),
})

/**
 * Runs JavaScript (ES2023) that nobody vouches for, in QuickJS compiled to WebAssembly, in a thread of its own. It reaches no
 * disk, no network, no process, no module and no timer: there are none. Promises are not awaited.
 * @param host what the code's calls of `host(value)` give; `value` is what JSON holds of it. Default: there is no such function.
 * @throws InputError for options that it does not know; InvariantError when the sandbox itself fails; what the host throws.
 * Whatever the code does is an outcome.
 */
export async function runInSandbox(
  code: string,
  options: z.input<typeof SandboxOptions> = {},
  host: SandboxHost | null = null,
): Promise<SandboxOutcome> {
  const { deadlineMs, thread: which, ...limits } = parseInput(SandboxOptions, options, 'The limits of a sandbox')
  if (which === 'kept') return keptThreads.run({ code, ...limits }, host, deadlineMs)
  const thread = new SandboxThread()
  try {
    return await thread.run({ code, ...limits }, host, deadlineMs)
  } finally {
    await thread.close()
  }
}
