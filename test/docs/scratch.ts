import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const repository = fileURLToPath(new URL('../../', import.meta.url))

/** `npx ratchet` here is this program; npm's own start takes seconds, a hundred times. `package.test.ts` runs the real one. */
const shortcuts = fileURLToPath(new URL('shortcuts', import.meta.url))

/** How a command ended, and everything that it said. */
export interface Ran {
  readonly code: number | null
  readonly output: string
}

/** Commands that run, each with all that it started: none outlives this process. */
const running = new Set<ChildProcess>()
const endAll = () => {
  for (const child of running) endGroup(child, 'SIGKILL')
}
process.once('exit', endAll)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

function endGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal)
  } catch {
    // It has ended.
  }
}

/** Starts a command line, with a process group of its own. */
function start(command: string, cwd: string, env: NodeJS.ProcessEnv = {}) {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', command], {
    cwd,
    env: {
      ...process.env,
      PATH: `${shortcuts}:${process.env['PATH']}`,
      NO_COLOR: '1',
      NODE_ENV: undefined,
      VITEST: undefined,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  running.add(child)
  child.once('close', () => running.delete(child))
  return child
}

/** A copy of the repository as a reader has it after `npm ci` and a build, to write into. */
export class Scratch {
  readonly folder: string
  #serving: ChildProcess | null = null

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'ratchet-docs-'))
    const left = new Set(['.git', 'node_modules', '.ratchet'])
    cpSync(repository, this.folder, { recursive: true, filter: (path) => !left.has(basename(path)) })
    symlinkSync(join(repository, 'node_modules'), join(this.folder, 'node_modules'))
  }

  write(file: string, content: string): void {
    if (existsSync(join(this.folder, file))) throw new Error(`the documentation would overwrite ${file}`)
    writeFileSync(join(this.folder, file), content)
  }

  /** Runs a command line in the copy. */
  run(command: string): Promise<Ran> {
    const child = start(command, this.folder)
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (output += text))
    }
    return new Promise((resolve, reject) => {
      child.on('error', reject)
      child.on('close', (code) => resolve({ code, output }))
    })
  }

  /** Starts a gateway in the copy, and waits until it answers; one that ran before is stopped. */
  async serve(command: string): Promise<void> {
    await this.stopServing()
    const child = start(`exec ${command.trim()}`, this.folder, { RATCHET_LOG_LEVEL: 'warn' })
    this.#serving = child
    let output = ''
    await new Promise<void>((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => {
          output += text
          if (output.includes('answers as the OpenAI API does')) resolve()
        })
      }
      child.once('error', reject)
      child.once('exit', (code) => reject(new Error(`${command} ended with ${code}\n${output}`)))
    })
  }

  /** Stops the gateway, if one runs, and waits until it has ended. */
  async stopServing(): Promise<void> {
    const child = this.#serving
    this.#serving = null
    if (!child?.pid || child.exitCode !== null) return
    const ended = once(child, 'exit')
    // npx runs it in a process of its own: the whole group is asked.
    endGroup(child, 'SIGTERM')
    await ended
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}
