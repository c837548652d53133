import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { openSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const script = (name: string) => new URL(`../../scripts/tinker/${name}`, import.meta.url).pathname
const env = { ...process.env, JAX_PLATFORMS: 'cpu', HF_HUB_OFFLINE: '1', PYTHONUNBUFFERED: '1' }

/** Makes the tiny random model in a folder, with the Python of an environment that has transformers and torch. */
export function makeTinyModel(python: string, folder: string): void {
  const { status, stderr } = spawnSync(python, [script('tiny-model.py'), folder], { env, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
}

/** SkyRL's own server as a process group of its own, with its engine. */
export interface SkyrlServer {
  readonly url: string
  /** Kills server and engine at once, as a crash would. */
  kill(): Promise<void>
}

/** Starts it over a folder that keeps its database and checkpoints, and waits until it answers. */
export async function startSkyrl(python: string, model: string, folder: string): Promise<SkyrlServer> {
  const port = await freePort()
  const log = join(folder, '..', `skyrl-${port}.log`)
  const out = openSync(log, 'w')
  const args = [script('serve-skyrl.py'), model, folder, String(port)]
  const child = spawn(python, args, { env, detached: true, stdio: ['ignore', out, out] })
  const url = `http://127.0.0.1:${port}`
  const kill = () => killGroup(child)
  for (let tries = 0; tries < 300; tries++) {
    const healthy = await fetch(`${url}/api/v1/healthz`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (healthy) return { url, kill }
    if (child.exitCode !== null) break
    await sleep(500)
  }
  await kill()
  throw new Error(`SkyRL did not start:\n${readFileSync(log, 'utf8').slice(-4_000)}`)
}

async function killGroup(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    return
  }
  await gone
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() =>
        typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port')),
      )
    })
  })
