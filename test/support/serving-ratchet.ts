import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { z } from 'zod'

/** A `ratchet serve` in a process of its own. */
export interface ServingRatchet {
  /** Without a slash at its end, and without `/v1`. */
  readonly url: string
  readonly process: ChildProcess
  /** Everything it wrote to standard error. */
  errors(): string
  /** Asks it to stop, waits until it has, and returns its exit code. */
  stop(): Promise<number | null>
}

const Listening = z.object({ type: z.literal('listening'), url: z.string() })

/** Starts the gateway that was built last, on any free port, and waits until it listens. */
export async function serveRatchet(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<ServingRatchet> {
  const child = spawn(process.execPath, ['dist/cli/main.js', 'serve', '--json', '--port', '0', ...args], {
    env: { ...process.env, RATCHET_LOG_LEVEL: 'silent', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let errors = ''
  let output = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      const [line, rest] = output.split('\n', 2)
      if (rest !== undefined) resolve(Listening.parse(JSON.parse(line ?? '')).url)
    })
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`ratchet serve ended with ${code}: ${errors}`)))
  })
  return {
    url,
    process: child,
    errors: () => errors,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGTERM')
        await once(child, 'exit')
      }
      return child.exitCode
    },
  }
}
