import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'

const cli = new URL('../../dist/cli/main.js', import.meta.url).pathname

/** `ratchet trainer` as a process of its own. */
export interface TrainerProcess {
  readonly url: string
  /** Kills it at once, as a crash would. */
  kill(): Promise<void>
}

/** Starts it over a folder and waits until it listens. @param port 0: any free one. */
export async function startTrainerProcess(
  folder: string,
  port = 0,
  model = 'minimind2-small',
): Promise<TrainerProcess> {
  const args = [cli, 'trainer', '--json', '--store', folder, '--port', String(port), '--model', model]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const url = await listening(child)
  return {
    url,
    async kill() {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}

async function listening(child: ChildProcess): Promise<string> {
  let said = ''
  child.stdout?.on('data', (bytes: Buffer) => (said += bytes.toString('utf8')))
  for (let tries = 0; tries < 1200 && child.exitCode === null; tries++) {
    const line = said.split('\n')[0] ?? ''
    if (said.includes('\n')) return z.object({ url: z.string() }).parse(JSON.parse(line)).url
    await sleep(100)
  }
  child.kill('SIGKILL')
  throw new Error(`ratchet trainer did not start: ${said}`)
}
