/**
 * Sampled tokens a second against Hugging Face generate and llama.cpp: the same weights in float32, the same threads, the
 * sides in turns.
 *
 *   npm run build && PYTHON=VENV/bin/python node bench/sampling.mjs [--model minimind2-small] [--rounds 5]
 *     [--concurrent 1,16] [--peers hf,llama,llama-own] [--workers 1 --threads-per-worker 2] [--rollouts] [--grammar]
 *
 * `llama-own` is llama.cpp on the GGUF file that was pulled, with its quantised weights: less precise, and no peer of
 * equal work. `--rollouts` adds rollouts of ours alone, `--grammar` sequences that are held to JSON beside free ones, ours
 * alone. Without a peer, ours is printed alone, and what to install.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { load, median, memory, spread } from './figures.mjs'
import { openPeer, peakMiB } from './peers/peer.mjs'
import { plainSequences, play, sampledTokens, searchEpisodes, tokenStream } from './sampling/scenes.mjs'
import { loadModel, modelsFolder, openEmbeddedEngine, textOfTokens } from '../dist/model/embedded/index.js'

const { values: flags } = parseArgs({
  options: {
    model: { type: 'string', default: 'minimind2-small' },
    precision: { type: 'string', default: 'float32' },
    rounds: { type: 'string', default: '5' },
    concurrent: { type: 'string', default: '1,16' },
    peers: { type: 'string', default: 'hf,llama' },
    workers: { type: 'string' },
    'threads-per-worker': { type: 'string' },
    rollouts: { type: 'boolean', default: false },
    grammar: { type: 'boolean', default: false },
  },
})
const rounds = Number(flags.rounds)
const threads = Math.min(availableParallelism(), 4)
const number = (/** @type {string | undefined} */ flag) => (flag === undefined ? undefined : Number(flag))

const folder = mkdtempSync(join(tmpdir(), 'ratchet-bench-'))
const script = fileURLToPath(new URL('models/export.mjs', import.meta.url))
execFileSync(process.execPath, [script, flags.model, folder])

const { weights, tokenizer } = await loadModel(flags.model)
const engine = await openEmbeddedEngine({
  model: weights,
  decode: (tokens) => tokenizer.decode(tokens),
  precision: /** @type {'float32' | 'int8'} */ (flags.precision),
  vocabulary: () => textOfTokens(tokenizer),
  ...(flags.workers && { workers: number(flags.workers) }),
  ...(flags['threads-per-worker'] && { threadsPerWorker: number(flags['threads-per-worker']) }),
})
const tokens = tokenStream(weights.config.vocabSize)

/** @type {Record<string, () => Promise<Awaited<ReturnType<typeof openPeer>>>>} */
const known = {
  hf: () => openPeer('sampling_hf.py', { arguments: [folder, String(threads)], threads }),
  llama: () => openPeer('sampling_llama_cpp.py', { arguments: [folder, String(threads), 'model-f32.gguf'], threads }),
  'llama-own': () => {
    const pulled = join(modelsFolder(), flags.model)
    const file = readdirSync(pulled).find((name) => name.endsWith('.gguf')) ?? ''
    return openPeer('sampling_llama_cpp.py', { arguments: [pulled, String(threads), file], threads })
  },
}
const peers = []
for (const name of flags.peers.split(',').filter((name) => name !== '')) {
  const peer = await known[name]?.()
  if (peer) peers.push(peer)
}

console.log(`${flags.model}, ${threads} threads, ${load()}`)
await agreement()
for (const count of flags.concurrent.split(',').map(Number)) {
  await race(`${count} × 64 tokens after a prompt of 16`, () => plainSequences(count, tokens))
  await race(`${count} episodes of 4 turns`, () => searchEpisodes(count, tokens))
}
console.log(
  `peak memory: ours ${memory(peakMiB())}${peers.map((peer) => `, ${peer.ready.name} ${memory(peer.peakMiB())}`).join('')}`,
)
if (flags.rollouts) await rollouts()
if (flags.grammar) for (const count of flags.concurrent.split(',').map(Number)) await held(count)
for (const peer of peers) await peer.close()
await engine.close()
rmSync(folder, { recursive: true })

/** How long greedy continuations agree: float32 sums in another order part where two tokens are about as likely. */
async function agreement() {
  const episodes = plainSequences(4, tokens)
  const mine = await play(engine.sampler, episodes, true)
  for (const peer of peers) {
    const { sampled } = await peer.ask({ episodes, greedy: true })
    const same = mine.map(([own = []], i) => {
      const parts = own.findIndex((token, at) => token !== sampled[i]?.[0]?.[at])
      return parts < 0 ? own.length : parts
    })
    console.log(`${peer.ready.name}: the same ${same.join(', ')} greedy tokens of 64`)
  }
}

/**
 * All sides in turns, after one run of each that is not counted. CPU time is steadier where others use the cores.
 * @param {string} scene
 * @param {() => import('./sampling/scenes.mjs').Episode[]} setUp
 */
async function race(scene, setUp) {
  /** @type {number[]} */
  const ours = []
  const theirs = peers.map(() => ({ rate: [], ratio: [], cpu: [] }))
  for (let round = -1; round < rounds; round++) {
    const episodes = setUp()
    const total = sampledTokens(episodes)
    const cpu = process.cpuUsage()
    const seconds = await timed(() => play(engine.sampler, episodes))
    const { user, system } = process.cpuUsage(cpu)
    if (round >= 0) ours.push(total / seconds)
    for (const [i, peer] of peers.entries()) {
      const took = await peer.ask({ episodes, greedy: false })
      if (round < 0) continue
      theirs[i]?.rate.push(total / took.seconds)
      theirs[i]?.ratio.push(took.seconds / seconds)
      theirs[i]?.cpu.push(took.cpuSeconds / ((user + system) / 1e6))
    }
  }
  console.log(`${scene}: ours ${spread(ours, 0)} tokens/s, ${load()}`)
  for (const [i, peer] of peers.entries()) {
    const { rate, ratio, cpu } = theirs[i] ?? { rate: [], ratio: [], cpu: [] }
    console.log(
      `${scene}: ${spread(ratio)}x ${peer.ready.name}, ${spread(rate, 0)} tokens/s; ${spread(cpu)}x in CPU time`,
    )
  }
}

/**
 * Free sequences and ones that are held to a JSON list of any values, in turns, of as many tokens at most; stop tokens are
 * none that are drawn. The first round, in which the grammar is compiled, is not counted.
 * @param {number} count
 */
async function held(count) {
  const schema = { type: 'array', minItems: 64 }
  const kinds = { free: {}, held: { grammar: { kind: 'json', schema }, stopTokens: [2] } }
  /** @type {Record<string, number[]>} */
  const rates = { free: [], held: [] }
  for (let round = -1; round < rounds; round++) {
    for (const [kind, more] of Object.entries(kinds)) {
      let sampled = 0
      const seconds = await timed(() =>
        Promise.all(
          Array.from({ length: count }, async (_, seed) => {
            const params = { maxTokens: 64, temperature: 0.8, seed, ...more }
            const [sequence] = await engine.sampler.sample({ prompt: tokens(16), adapter: null, params })
            sampled += sequence?.tokens.length ?? 0
          }),
        ),
      )
      if (round >= 0) rates[kind]?.push(sampled / seconds)
    }
  }
  const ratios = (rates['held'] ?? []).map((rate, round) => rate / (rates['free']?.[round] ?? 1))
  console.log(
    `${count} × 64 tokens held to JSON: ${spread(rates['held'] ?? [], 0)} tokens/s, ${spread(ratios)}x of free, ${load()}`,
  )
}

/** @param {() => Promise<unknown>} work */
async function timed(work) {
  const start = performance.now()
  await work()
  return (performance.now() - start) / 1000
}

/** The main job's rollout: groups of 8 share a prompt of 16 tokens; 3 turns of about 9 sampled and 25 observed tokens. */
async function rollouts() {
  const trainer = await engine.trainer({ method: { kind: 'lora', rank: 16, alpha: 32 }, seed: 1 })
  for (const concurrent of [1, 16, 128]) {
    const seconds = []
    let sampled = 0
    for (let round = -1; round < rounds; round++) {
      // New weights for every rollout, as in learning.
      const adapter = await trainer.publish()
      const prompts = Array.from({ length: Math.ceil(concurrent / 8) }, () => tokens(16))
      sampled = 0
      const took = await timed(() =>
        Promise.all(
          Array.from({ length: concurrent }, async (_, episode) => {
            let history = prompts[episode >> 3] ?? []
            for (let turn = 0; turn < 3; turn++) {
              const params = { maxTokens: 5 + ((episode * 7 + turn) % 9), temperature: 0.8, seed: episode }
              const [sequence] = await engine.sampler.sample({ prompt: history, adapter, params })
              sampled += sequence?.tokens.length ?? 0
              history = [...history, ...(sequence?.tokens ?? []), ...tokens(25)]
            }
          }),
        ),
      )
      await engine.sampler.unload(adapter)
      if (round >= 0) seconds.push(took)
    }
    const rate = Math.round(sampled / median(seconds))
    console.log(
      `rollout of ${concurrent} episodes × 3 turns, LoRA rank 16: ${spread(seconds)} s, ${rate} sampled tokens/s`,
    )
  }
}
