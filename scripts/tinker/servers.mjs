/** Servers that scripts start: processes of their own, and ours in this one. */
import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { startTrainer } from '../../dist/trainer/index.js'

export const pythonEnv = { ...process.env, JAX_PLATFORMS: 'cpu', HF_HUB_OFFLINE: '1' }

export const script = (name) => new URL(name, import.meta.url).pathname

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })

/**
 * Starts a server as a process group of its own, and waits until it answers.
 * @param ends takes what ends it, as soon as it is started.
 * @returns its URL.
 */
export async function served(program, argsAt, ends) {
  const port = await freePort()
  const child = spawn(program, argsAt(port), { env: pythonEnv, detached: true, stdio: 'ignore' })
  ends.push(() => {
    if (child.exitCode === null) process.kill(-Number(child.pid), 'SIGKILL')
  })
  const url = `http://127.0.0.1:${port}`
  for (let tries = 0; tries < 600 && child.exitCode === null; tries++) {
    const healthy = await fetch(`${url}/api/v1/healthz`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (healthy) return url
    await sleep(500)
  }
  throw new Error(`${program} did not start`)
}

/**
 * Starts our server over a model in this process.
 * @param service what it samples with and trains.
 * @param ends takes what ends it.
 * @returns its URL.
 */
export async function ourServer(service, folder, ends) {
  const told = (error) => {
    console.error(error)
    process.exitCode = 1
  }
  const server = await startTrainer({ service, folder, host: '127.0.0.1', port: 0, onFatal: told, onUnexpected: told })
  ends.push(() => server.close())
  return server.url
}
