import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

/** How a process ended, and what it said. */
export interface Ended {
  /** Null when a signal ended it. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Starts the built binary. */
export function startRatchet(
  args: readonly string[],
  { home, ...options }: { readonly cwd?: string; readonly uid?: number; readonly home?: string } = {},
) {
  const child = spawn(process.execPath, [main, ...args], {
    ...options,
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined, ...(home === undefined ? {} : { HOME: home }) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => (said[stream] += text))
  }
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, ...said }))
  })
  return { child, ended, said }
}

/** Runs the built binary to its end. */
export const ratchet = (args: readonly string[], options?: Parameters<typeof startRatchet>[1]): Promise<Ended> =>
  startRatchet(args, options).ended

/** Every file and folder below a folder, sorted; what SQLite keeps beside a database while it is open is left out. */
export function listing(folder: string): string[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return paths.filter((path) => !/-(shm|wal)$/.test(path)).toSorted()
}
