import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const repository = fileURLToPath(new URL('../../', import.meta.url))

/** How a command ended, and everything that it said. */
export interface Ran {
  readonly code: number | null
  readonly output: string
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
    const child = spawn('bash', ['-euo', 'pipefail', '-c', command], {
      cwd: this.folder,
      env: { ...process.env, NO_COLOR: '1', NODE_ENV: undefined, VITEST: undefined },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
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
    const child = spawn('bash', ['-euo', 'pipefail', '-c', `exec ${command.trim()}`], {
      cwd: this.folder,
      env: { ...process.env, NO_COLOR: '1', NODE_ENV: undefined, VITEST: undefined, RATCHET_LOG_LEVEL: 'warn' },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
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
    process.kill(-child.pid, 'SIGTERM')
    await ended
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}
