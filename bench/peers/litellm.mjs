// LiteLLM's proxy before the same upstream, as fast as it can be set: one worker, no database, no callbacks, no spend or
// access log, no token counting, errors alone logged, and the C parts of its servers installed. It records nothing.
//   python3 -m venv /tmp/litellm && /tmp/litellm/bin/pip install 'litellm[proxy]==1.106.2' httptools
//   export RATCHET_LITELLM=/tmp/litellm/bin/litellm [RATCHET_LITELLM_SERVER=granian, instead of uvicorn, its default]
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { endWithUs } from '../gateway/children.mjs'
import { processTree } from '../gateway/cpu.mjs'

/** It takes its time to load. */
const patienceMs = 120_000
const masterKey = 'sk-ratchet-bench-0123456789abcdef0123456789abcdef'

/** @returns the running proxy, or `null` where `RATCHET_LITELLM` names none. */
export async function startLitellm({ folder, upstream }) {
  const { RATCHET_LITELLM: command, RATCHET_LITELLM_SERVER: server = 'uvicorn' } = process.env
  if (!command) return null
  mkdirSync(folder, { recursive: true })
  const config = join(folder, 'litellm.json')
  // YAML that is JSON.
  writeFileSync(config, JSON.stringify(configOf(upstream)))
  const port = await freePort()
  const args = ['--config', config, '--host', '127.0.0.1', '--port', String(port), '--num_workers', '1']
  const served = server === 'granian' ? ['--run_granian'] : []
  const child = spawn(command, [...args, '--telemetry', 'False', ...served], {
    env: {
      ...process.env,
      LITELLM_MASTER_KEY: masterKey,
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
      LITELLM_MODE: 'PRODUCTION',
      LITELLM_LOG: 'ERROR',
      LITELLM_DONT_SHOW_FEEDBACK_BOX: 'True',
      NO_PROXY: '*',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  endWithUs(child)
  let complaint = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    complaint = (complaint + text).slice(-2_000)
  })
  await answers(child, port, () => complaint)
  return {
    host: '127.0.0.1',
    port,
    tokens: [masterKey],
    version: `${versionOf(command)} on ${server}`,
    pids: () => processTree(child.pid),
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const gone = once(child, 'exit')
      const all = processTree(child.pid)
      for (const pid of all.toReversed()) process.kill(pid, 'SIGKILL')
      await gone
    },
  }
}

const configOf = ({ host, port }) => ({
  model_list: [
    {
      model_name: 'canned',
      litellm_params: { model: 'openai/canned', api_base: `http://${host}:${port}/v1`, api_key: 'none' },
    },
  ],
  litellm_settings: {
    telemetry: false,
    set_verbose: false,
    num_retries: 0,
    request_timeout: 600,
    disable_streaming_logging: true,
    disable_token_counter: true,
    callbacks: [],
    success_callback: [],
    failure_callback: [],
  },
  general_settings: { disable_spend_logs: true, disable_error_logs: true, disable_adding_master_key_hash_to_db: true },
  router_settings: { num_retries: 0, disable_cooldowns: true },
})

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

async function answers(child, port, complaint) {
  const until = performance.now() + patienceMs
  while (performance.now() < until && child.exitCode === null) {
    const alive = await fetch(`http://127.0.0.1:${port}/health/liveliness`).then(
      (response) => response.ok,
      () => false,
    )
    if (alive) return
    await sleep(250)
  }
  child.kill('SIGKILL')
  throw new Error(`LiteLLM did not come up: ${complaint()}`)
}

function versionOf(command) {
  const script = 'from importlib.metadata import version; print(version("litellm"))'
  return execFileSync(join(dirname(command), 'python'), ['-c', script], { encoding: 'utf8' }).trim()
}
