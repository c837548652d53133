// Sampled tokens per second at 1 and 16 concurrent episodes against Hugging Face generate, same weights, same tokens,
// runs interleaved; then rollouts of our own. The peer needs `pip install torch transformers safetensors`:
//   npm run build && PYTHON=python3 [WORKERS=1 THREADS_PER_WORKER=2] node bench/sampling.mjs
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { weightShapes } from '../dist/model/embedded/transformer/weights.js'
import { loadModel, openEmbeddedEngine, writeSafetensors } from '../dist/model/embedded/index.js'

const repetitions = Number(process.env.REPETITIONS ?? 7)
const threads = Math.min(availableParallelism(), 4)
const { weights, tokenizer } = await loadModel('minimind2-small')
const { config } = weights

const engine = await openEmbeddedEngine({
  model: weights,
  decode: (tokens) => tokenizer.decode(tokens),
  workers: Number(process.env.WORKERS ?? threads),
  threadsPerWorker: Number(process.env.THREADS_PER_WORKER ?? 1),
})

/** Fresh random tokens every time: nothing that was cached before helps. */
let state = 1
const randomTokens = (length) =>
  Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return 3 + (state % (config.vocabSize - 3))
  })

/** Continues each prompt by as many tokens as `lengths` says. */
const ours = (prompts, lengths, greedy = false) =>
  Promise.all(
    prompts.map(async (prompt, i) => {
      const params = { maxTokens: lengths[i], temperature: greedy ? 0 : 0.8, seed: i }
      const [sequence] = await engine.sampler.sample({ prompt, adapter: null, params })
      return sequence.tokens
    }),
  )

/**
 * Episodes as in the search job, two groups of eight that share their question: sampled actions of 5 to 13 tokens and
 * observations of 10 to 40 take turns. A batched `generate` call runs to the longest action.
 */
const turns = 4
const actionLength = (episode, turn) => 5 + ((episode * 7 + turn * 5) % 9)
const observationLength = (episode, turn) => 10 + ((episode * 11 + turn * 13) % 31)

/** Ours: every episode at its own pace. */
async function ourEpisodes(prompts, observations) {
  await Promise.all(
    prompts.map(async (prompt, i) => {
      let history = prompt
      for (let turn = 0; turn < turns; turn++) {
        const [action] = await ours([history], [actionLength(i, turn)])
        history = [...history, ...action, ...observations[turn][i]]
      }
    }),
  )
}

/** Theirs: all episodes of a batch take their turns together. */
async function theirEpisodes(generate, prompts, observations) {
  let histories = prompts
  for (let turn = 0; turn < turns; turn++) {
    const lengths = prompts.map((_, i) => actionLength(i, turn))
    const actions = await generate(histories, lengths)
    histories = histories.map((history, i) => [...history, ...actions[i], ...observations[turn][i]])
  }
}

async function timed(work) {
  const start = performance.now()
  await work()
  return (performance.now() - start) / 1000
}

const peer = await openPeer()
if (peer) await compare(peer)
await rollouts()
await peer?.close()
await engine.close()

async function compare({ generate, cpuSeconds, version }) {
  const check = [randomTokens(16), randomTokens(11)]
  const [mine, theirs] = [await ours(check, [24, 24], true), await generate(check, [24, 24], true)]
  report({ bench: 'sampling', peer: version, threads, greedyTokensAgree: mine.flat().join() === theirs.flat().join() })
  for (const concurrent of [1, 16]) {
    await race(`${concurrent} × 64 tokens after a prompt of 16`, concurrent * 64, cpuSeconds, () => {
      const prompts = Array.from({ length: concurrent }, () => randomTokens(16))
      const lengths = prompts.map(() => 64)
      return [() => ours(prompts, lengths), () => generate(prompts, lengths)]
    })
    const everyTurn = (of) =>
      Array.from({ length: turns }, (_, turn) => Array.from({ length: concurrent }, (_, i) => of(i, turn)))
    const actions = everyTurn(actionLength).flat()
    const tokens = actions.reduce((sum, length) => sum + length, 0)
    await race(`${concurrent} concurrent episodes of ${turns} turns`, tokens, cpuSeconds, () => {
      const questions = Array.from({ length: Math.ceil(concurrent / 8) }, () => randomTokens(16))
      const prompts = Array.from({ length: concurrent }, (_, i) => questions[i >> 3])
      const observations = everyTurn((i, turn) => randomTokens(observationLength(i, turn)))
      return [() => ourEpisodes(prompts, observations), () => theirEpisodes(generate, prompts, observations)]
    })
  }
}

/** Alternates both sides, after one run of each that is not counted. CPU time is steadier where others use the cores. */
async function race(scene, tokens, peerCpuSeconds, setUp) {
  const runs = []
  for (let repetition = -1; repetition < repetitions; repetition++) {
    const [mine, theirs] = setUp()
    const ownCpu = process.cpuUsage()
    const ourSeconds = await timed(mine)
    const { user, system } = process.cpuUsage(ownCpu)
    const peerCpu = peerCpuSeconds()
    const theirSeconds = await timed(theirs)
    if (repetition < 0) continue
    runs.push({
      ours: tokens / ourSeconds,
      theirs: tokens / theirSeconds,
      ratio: theirSeconds / ourSeconds,
      cpuRatio: (peerCpuSeconds() - peerCpu) / ((user + system) / 1e6),
    })
  }
  const of = (key) => spread(runs.map((run) => run[key]))
  report({
    scene,
    n: repetitions,
    oursTokensPerSecond: of('ours'),
    theirsTokensPerSecond: of('theirs'),
    ratio: of('ratio'),
    cpuTimeRatio: of('cpuRatio'),
  })
}

/** The main job's rollout: groups of 8 share a prompt of 16 tokens; 3 turns of about 9 sampled and 25 observed tokens. */
async function rollouts() {
  const trainer = await engine.trainer({ method: { kind: 'lora', rank: 16, alpha: 32 }, seed: 1 })
  for (const concurrent of [1, 16, 128]) {
    const seconds = []
    let tokens = 0
    for (let repetition = -1; repetition < repetitions; repetition++) {
      // New weights for every rollout, as in learning.
      const adapter = await trainer.publish()
      const prompts = Array.from({ length: Math.ceil(concurrent / 8) }, () => randomTokens(16))
      tokens = 0
      const took = await timed(() =>
        Promise.all(
          Array.from({ length: concurrent }, async (_, episode) => {
            let history = prompts[episode >> 3]
            for (let turn = 0; turn < 3; turn++) {
              const params = { maxTokens: 5 + ((episode * 7 + turn) % 9), temperature: 0.8, seed: episode }
              const [sequence] = await engine.sampler.sample({ prompt: history, adapter, params })
              tokens += sequence.tokens.length
              history = [...history, ...sequence.tokens, ...randomTokens(25)]
            }
          }),
        ),
      )
      await engine.sampler.unload(adapter)
      if (repetition >= 0) seconds.push(took)
    }
    report({
      scene: `rollout of ${concurrent} episodes × 3 turns, LoRA rank 16`,
      n: repetitions,
      seconds: spread(seconds),
      sampledTokensPerSecond: Math.round(tokens / median(seconds)),
    })
  }
}

/** Starts the peer on the same weights, written as a Hugging Face folder; null, and a line that says why, without it. */
async function openPeer() {
  const folder = mkdtempSync(join(tmpdir(), 'ratchet-bench-'))
  writeHuggingFace(folder)
  const script = new URL('peers/sampling_hf.py', import.meta.url).pathname
  const environment = { ...process.env, OMP_WAIT_POLICY: 'passive', TOKENIZERS_PARALLELISM: 'false' }
  const child = spawn(process.env.PYTHON ?? 'python3', [script, folder, String(threads)], { env: environment })
  let complaint = ''
  child.stderr.on('data', (text) => {
    complaint = (complaint + text).slice(-2000)
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  let cpu = 0
  const generate = async (prompts, lengths, greedy = false) => {
    child.stdin.write(`${JSON.stringify({ prompts, tokens: Math.max(...lengths), greedy })}\n`)
    const { value, done } = await lines.next()
    if (done) throw new Error(complaint)
    const { continuations, cpuSeconds } = JSON.parse(value)
    cpu += cpuSeconds
    return continuations.map((tokens, i) => tokens.slice(0, lengths[i]))
  }
  child.stdin.on('error', () => undefined)
  const close = async () => {
    child.stdin.end()
    await ended
    rmSync(folder, { recursive: true })
  }
  try {
    await generate([[3]], [1])
    return { generate, close, cpuSeconds: () => cpu, version: 'Hugging Face generate, PyTorch eager, float32' }
  } catch (error) {
    report({ bench: 'sampling', peer: null, why: String(error.message).trim().split('\n').at(-1) })
    await close()
    return null
  }
}

function writeHuggingFace(folder) {
  const tensors = new Map(
    [...weightShapes(config)].map(([name, shape]) => [name, { shape, data: weights.tensors.get(name) }]),
  )
  writeFileSync(join(folder, 'model.safetensors'), writeSafetensors(tensors, { format: 'pt' }))
  const huggingFace = {
    architectures: ['LlamaForCausalLM'],
    model_type: 'llama',
    vocab_size: config.vocabSize,
    hidden_size: config.hiddenSize,
    intermediate_size: config.intermediateSize,
    num_hidden_layers: config.layers,
    num_attention_heads: config.heads,
    num_key_value_heads: config.kvHeads,
    head_dim: config.headDim,
    rope_theta: config.ropeTheta,
    rms_norm_eps: config.rmsNormEps,
    max_position_embeddings: config.maxPositions,
    tie_word_embeddings: config.tiedHead,
    hidden_act: 'silu',
  }
  writeFileSync(join(folder, 'config.json'), JSON.stringify(huggingFace))
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b)
  return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.ceil((sorted.length - 1) / 2)]) / 2
}

function spread(values) {
  const round = (value) => Number(value.toPrecision(3))
  return { median: round(median(values)), min: round(Math.min(...values)), max: round(Math.max(...values)) }
}

function report(line) {
  console.log(JSON.stringify(line))
}
