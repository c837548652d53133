/**
 * The learning curves of tinker-cookbook's recipes (scripts/tinker/cookbook.py) on SkyRL's own server and on ours: the same tiny
 * model from the same folder, the same data, the same seeds. Beside the greatest difference between the servers stands that
 * between seeds on one server: LoRA begins at random, and each server draws in its own way.
 *
 *   npx tsc -b && node scripts/tinker/curves.mjs --cookbook PYTHON --skyrl PYTHON [--seeds 3] [--steps 20] [--recipes sl,dpo]
 *
 * `--cookbook` and `--skyrl` are the Pythons of the environments that docs/trainers.md installs.
 */
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    cookbook: { type: 'string' },
    skyrl: { type: 'string' },
    seeds: { type: 'string', default: '3' },
    steps: { type: 'string', default: '20' },
    recipes: { type: 'string', default: 'sl,dpo' },
  },
})
if (!values.cookbook || !values.skyrl) throw new Error('Say which Pythons: --cookbook PYTHON --skyrl PYTHON')

const figure = { sl: 'train_mean_nll', dpo: 'dpo_loss', rl: 'reward/total' }
const script = (name) => new URL(name, import.meta.url).pathname
const cli = new URL('../../dist/cli/main.js', import.meta.url).pathname
const env = { ...process.env, JAX_PLATFORMS: 'cpu', HF_HUB_OFFLINE: '1' }

/** Runs a program to its end. @returns what it printed. */
function ran(program, args) {
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let [said, failed] = ['', '']
  child.stdout.on('data', (bytes) => (said += bytes))
  child.stderr.on('data', (bytes) => (failed += bytes))
  return new Promise((resolve, reject) =>
    child.once('close', (code) => (code === 0 ? resolve(said) : reject(new Error(failed.slice(-4000))))),
  )
}

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })

/** Starts a server as a process group of its own, and waits until it answers. */
async function served(program, argsAt) {
  const port = await freePort()
  const child = spawn(program, argsAt(port), { env, detached: true, stdio: 'ignore' })
  const url = `http://127.0.0.1:${port}`
  for (let tries = 0; tries < 600 && child.exitCode === null; tries++) {
    const healthy = await fetch(`${url}/api/v1/healthz`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (healthy) return { url, end: () => process.kill(-child.pid, 'SIGKILL') }
    await sleep(500)
  }
  throw new Error(`${program} did not start`)
}

const furthest = (pairs) => Math.max(...pairs.flatMap(([a, b]) => a.map((one, i) => Math.abs(one - b[i]))))

const folder = await mkdtemp(join(tmpdir(), 'ratchet-curves-'))
const model = join(folder, 'tiny')
const servers = []
try {
  await ran(values.skyrl, [script('tiny-model.py'), model])
  const skyrl = await served(values.skyrl, (port) => [
    script('serve-skyrl.py'),
    model,
    join(folder, 'skyrl'),
    `${port}`,
  ])
  servers.push(skyrl)
  const ours = await served(process.execPath, (port) => [
    ...[cli, 'trainer', '--model', model, '--store', join(folder, 'ours'), '--port', `${port}`],
  ])
  servers.push(ours)
  const seeds = Array.from({ length: Number(values.seeds) }, (_, i) => i + 1)
  for (const recipe of values.recipes.split(',')) {
    const curves = { ratchet: [], skyrl: [] }
    for (const seed of seeds) {
      for (const [name, { url }] of [
        ['ratchet', ours],
        ['skyrl', skyrl],
      ]) {
        const logs = join(folder, `${name}-${seed}`)
        const args = ['-W', 'ignore', script('cookbook.py'), url, model, model, logs, recipe, `${seed}`, values.steps]
        const lines = (await ran(values.cookbook, args)).trim().split('\n')
        curves[name].push(lines.map((line) => JSON.parse(line)[figure[recipe]]))
        console.error(
          recipe,
          seed,
          name,
          curves[name]
            .at(-1)
            .map((one) => one.toFixed(3))
            .join(' '),
        )
      }
    }
    const between = furthest(curves.ratchet.map((curve, i) => [curve, curves.skyrl[i]]))
    const seedsApart = (all) => furthest(all.flatMap((a, i) => all.slice(i + 1).map((b) => [a, b])))
    const [oursApart, skyrlApart] = [seedsApart(curves.ratchet), seedsApart(curves.skyrl)]
    console.log(JSON.stringify({ recipe, figure: figure[recipe], seeds, ...curves, between, oursApart, skyrlApart }))
  }
} finally {
  for (const { end } of servers) end()
  await rm(folder, { recursive: true, force: true })
}
