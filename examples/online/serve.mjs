// `ratchet serve` in a process of its own, as an operator runs it: a configuration file, a store, and what it tells as
// JSON lines.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const command = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

export const agentName = 'support'
export const modelName = 'minimind2-small'
export const rank = 16

/** The gateway's configuration: one agent on the embedded engine, and how it learns. */
export const configOf = (learn) => ({
  upstreams: [{ name: 'embedded', url: 'embedded', model: modelName, renderer: 'compact' }],
  agents: [{ name: agentName, model: modelName, rank, learn }],
  limits: { requestsPerMinute: 1_000_000, signalsPerDay: 1_000_000 },
})

/**
 * Starts the gateway that was built last, on any free port.
 * @param learn the agent's section `learn`.
 * @param onEvent told what the learner tells: see `LearnerEvent` and `LearnEvent` of `ratchet-agents/learn`.
 * @returns `{ place, stop }`: what users need to reach the agent, and what ends the process.
 */
export async function serve({ folder, learn, onEvent = () => {} }) {
  mkdirSync(folder, { recursive: true })
  const config = join(folder, 'serve.json')
  writeFileSync(config, JSON.stringify(configOf(learn), null, 2))
  const args = [command, 'serve', '--json', '--port', '0', '--store', folder, '--config', config]
  const child = spawn(process.execPath, args, {
    env: { RATCHET_LOG_LEVEL: 'error', ...process.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`ratchet serve ended with ${code}`)))
    createInterface({ input: child.stdout }).on('line', (line) => {
      const event = JSON.parse(line)
      if (event.type === 'listening') resolve(event.url)
      else onEvent(event)
    })
  })
  return {
    place: { base: url, key: 'any', agent: agentName, model: modelName },
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}
