import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

const Listening = z.looseObject({ type: z.literal('listening'), url: z.string() })

export interface GatewayProcessOptions {
  /** Folder of the store, or a database's URL. */
  readonly store: string
  /** What `--config` reads; listens on any free port. */
  readonly config: object
  readonly logLevel?: string
  /** A command before node's, which must end in it: `exec "$@"`. */
  readonly before?: readonly string[]
  readonly nodeFlags?: readonly string[]
}

/** `ratchet serve` in a process of its own. */
export interface GatewayProcess {
  readonly pid: number
  /** Resolves when it listens. @throws when it ended before. */
  readonly listening: Promise<string>
  /** Where it listens; `null` before it does and after it ended. */
  readonly url: string | null
  /** What it logged, as far as its level lets it. */
  readonly log: readonly Record<string, unknown>[]
  readonly stderr: () => string
  /** How it ended. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
  readonly isAlive: () => boolean
  readonly send: (signal: NodeJS.Signals) => void
  /** Kills it as a power cut would, and waits for its end. */
  readonly kill: () => Promise<void>
  /** Bytes in memory now, and at the most so far (Linux). */
  readonly memory: () => { readonly now: number; readonly peak: number }
  /** Files and sockets that it has open (Linux). */
  readonly openFiles: () => number
}

const running = new Set<ChildProcess>()

/** Ends what a test has left. */
export function killGateways(): void {
  for (const child of running) child.kill('SIGKILL')
}

export function startGatewayProcess(options: GatewayProcessOptions): GatewayProcess {
  const { store, config, logLevel = 'warn', before = [], nodeFlags = [] } = options
  const folder = mkdtempSync(join(tmpdir(), 'ratchet-gateway-'))
  const file = join(folder, 'config.json')
  writeFileSync(file, JSON.stringify({ port: 0, ...config }))
  const serve = ['serve', '--store', store, '--config', file, '--json']
  const [command = process.execPath, ...args] = [...before, process.execPath, ...nodeFlags, main, ...serve]
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, RATCHET_LOG_LEVEL: logLevel, NO_COLOR: '1', FORCE_COLOR: undefined },
  })
  running.add(child)
  const log: Record<string, unknown>[] = []
  let url: string | null = null
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.on('exit', (code, signal) => {
      running.delete(child)
      url = null
      rmSync(folder, { recursive: true, force: true })
      resolve({ code, signal })
    })
  })
  const listening = new Promise<string>((resolve, reject) => {
    void ended.then((end) =>
      reject(new Error(`the gateway ended before it listened: ${JSON.stringify(end)} ${stderr}`)),
    )
    createInterface({ input: child.stdout }).on('line', (line) => {
      // A line cut short by a kill says nothing.
      if (!line.endsWith('}')) return
      const said = JSON.parse(line) as Record<string, unknown>
      const listens = Listening.safeParse(said)
      if (listens.success) resolve((url = listens.data.url))
      else log.push(said)
    })
  })
  // Who kills it before it listens does not wait for it.
  listening.catch(() => {})
  const pid = child.pid ?? -1
  return {
    pid,
    listening,
    get url() {
      return url
    },
    log,
    stderr: () => stderr,
    ended,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    send: (signal) => void child.kill(signal),
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
    memory: () => ({ now: statusOf(pid, 'VmRSS'), peak: statusOf(pid, 'VmHWM') }),
    openFiles: () => readdirSync(`/proc/${pid}/fd`).length,
  }
}

/** Before node's own command: a small disk of its own at `folder`, which nobody else sees and which goes with it. */
export const onSmallDisk = (folder: string, size: string): readonly string[] => [
  'unshare',
  '--mount',
  ...(process.getuid?.() === 0 ? [] : ['--map-root-user']),
  'sh',
  '-c',
  `mount -t tmpfs -o size=${size} tmpfs "$0" && exec "$@"`,
  folder,
]

/** Whether such disks can be made here; not on macOS, and not in some containers. */
export const smallDisks = (): boolean => {
  const [command = '', ...args] = onSmallDisk(tmpdir(), '64k')
  return spawnSync(command, [...args, 'true']).status === 0
}

/** One of the kernel's figures of a process's memory, in bytes. */
function statusOf(pid: number, field: string): number {
  const [, kilobytes = '0'] =
    new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1024
}
