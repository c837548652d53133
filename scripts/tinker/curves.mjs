/**
 * The learning curve of a tinker-cookbook recipe (`sl` of scripts/tinker/cookbook.py) on SkyRL's own server and on ours: the same
 * tiny model from the same folder, the same data, the same seeds. LoRA begins at random, and SkyRL draws five times as widely;
 * with `--start skyrl` ours begins with the adapter that SkyRL drew for the seed. Beside the greatest difference between the
 * servers stands that between seeds on one server.
 *
 *   npx tsc -b && node scripts/tinker/curves.mjs --cookbook PYTHON --skyrl PYTHON [--start skyrl|own] [--seeds 3] [--steps 20]
 *
 * `--cookbook` and `--skyrl` are the Pythons of the environments that docs/trainers.md installs.
 */
import { execFileSync, spawn } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openEmbeddedModel } from '../../dist/model/index.js'
import { readSafetensors } from '../../dist/model/embedded/load/safetensors.js'
import { writeAdapter } from '../../dist/model/embedded/train/adapter-file.js'
import { loadModel } from '../../dist/model/embedded/load/index.js'
import { ourServer, pythonEnv, script, served } from './servers.mjs'

const { values } = parseArgs({
  options: {
    cookbook: { type: 'string' },
    skyrl: { type: 'string' },
    seeds: { type: 'string', default: '3' },
    steps: { type: 'string', default: '20' },
    start: { type: 'string', default: 'skyrl' },
  },
})
if (!values.cookbook || !values.skyrl) throw new Error('Say which Pythons: --cookbook PYTHON --skyrl PYTHON')

/** Runs a program to its end. @returns what it printed. */
function ran(program, args) {
  const child = spawn(program, args, { env: pythonEnv, stdio: ['ignore', 'pipe', 'pipe'] })
  let [said, failed] = ['', '']
  child.stdout.on('data', (bytes) => (said += bytes))
  child.stderr.on('data', (bytes) => (failed += bytes))
  return new Promise((resolve, reject) =>
    child.once('close', (code) => (code === 0 ? resolve(said) : reject(new Error(failed.slice(-4000))))),
  )
}

/** The adapter that SkyRL draws for a seed, as bytes that our trainers load: a PEFT archive that the server keeps. */
async function drawnBySkyrl(url, checkpoints, seed) {
  const post = async (path, body) => {
    const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const answer = await fetch(`${url}/api/v1/${path}`, request)
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
    return answer.json()
  }
  const { session_id } = await post('create_session', { tags: [], sdk_version: '0', type: 'create_session' })
  const lora_config = { rank, seed }
  const { model_id, request_id } = await post('create_model', { session_id, base_model: model, lora_config })
  await post('retrieve_future', { request_id })
  const name = `start-${seed}`
  const saved = await post('save_weights_for_sampler', { model_id, path: name })
  await post('retrieve_future', { request_id: saved.request_id })
  await post('unload_model', { model_id })
  const files = await readdir(checkpoints, { recursive: true })
  const archive = files.find((file) => file.endsWith(`${name}.tar.gz`))
  const file = execFileSync('tar', ['-xzOf', join(checkpoints, archive), '--wildcards', '*adapter_model.safetensors'])
  const { tensors } = readSafetensors(new Uint8Array(file))
  const named = [...tensors].map(([key, { data }]) => [
    key.replace('base_model.model.', ''),
    new Float32Array(new Uint8Array(data).buffer),
  ])
  return writeAdapter(config, { rank, alpha, targets, tensors: new Map(named) })
}

const furthest = (pairs) => Math.max(...pairs.flatMap(([a, b]) => a.map((one, i) => Math.abs(one - b[i]))))

const [rank, alpha] = [8, 32]
const targets = ['q', 'k', 'v', 'o', 'gate', 'up', 'down']
const folder = await mkdtemp(join(tmpdir(), 'ratchet-curves-'))
const model = join(folder, 'tiny')
const ends = []
let config
try {
  await ran(values.skyrl, [script('tiny-model.py'), model])
  config = (await loadModel(model)).weights.config
  const kept = join(folder, 'skyrl')
  const skyrl = await served(values.skyrl, (port) => [script('serve-skyrl.py'), model, kept, `${port}`], ends)
  const { service } = await openEmbeddedModel({ reference: model })
  ends.push(() => service.close())
  const starts = new Map()
  const begun = async (method, seed) => {
    const trainer = await service.trainer(method, seed)
    if (starts.has(seed)) await trainer.loadWeights(starts.get(seed))
    return trainer
  }
  const ours = await ourServer(
    {
      base: model,
      sampler: service.sampler,
      loadAdapter: (saved) => service.loadAdapter(saved),
      trainer: begun,
    },
    join(folder, 'ours'),
    ends,
  )
  const seeds = Array.from({ length: Number(values.seeds) }, (_, i) => i + 1)
  const curves = { ratchet: [], skyrl: [] }
  for (const seed of seeds) {
    if (values.start === 'skyrl') starts.set(seed, await drawnBySkyrl(skyrl, join(kept, 'checkpoints'), seed))
    for (const [name, url] of Object.entries({ ratchet: ours, skyrl })) {
      const logs = join(folder, `${name}-${seed}`)
      const args = [
        '-W',
        'ignore',
        script('cookbook.py'),
        url,
        model,
        model,
        logs,
        'sl',
        `${seed}`,
        values.steps,
        'no-head',
      ]
      const lines = (await ran(values.cookbook, args)).trim().split('\n')
      curves[name].push(lines.map((line) => JSON.parse(line).train_mean_nll))
      console.error(
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
  const apart = (all) => furthest(all.flatMap((a, i) => all.slice(i + 1).map((b) => [a, b])))
  const seedsApart = { ratchet: apart(curves.ratchet), skyrl: apart(curves.skyrl) }
  console.log(JSON.stringify({ start: values.start, seeds, ...curves, between, seedsApart }))
} finally {
  for (const end of ends.toReversed()) await end()
  await rm(folder, { recursive: true, force: true })
}
