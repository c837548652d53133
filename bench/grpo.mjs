/**
 * A whole GRPO step against TRL's GRPOTrainer: 16 tasks with 8 attempts each are sampled, scored and trained on. The same
 * weights in float32, tasks, number of tokens, LoRA and threads; the sides in turns; then the peak memory of both.
 *
 *   npm run build && PYTHON=VENV/bin/python node bench/grpo.mjs [--model minimind2-small] [--tasks 16] [--attempts 8]
 *     [--sample 64] [--closed] [--rounds 3] [--micro 32] [--threads 2] [--continuous]
 *
 * The tasks are the main job's questions after the documents that answer them; `--closed` leaves the documents out. Every
 * attempt samples exactly `--sample` tokens. `--micro` is TRL's batch in training, which must divide the attempts of a
 * step. `--continuous` lets TRL sample with the continuous batching of transformers.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { load, memory, spread } from './figures.mjs'
import { askedTasks, score } from './grpo/tasks.mjs'
import { openPeer, peakMiB } from './peers/peer.mjs'
import { openEmbeddedModel } from '../dist/model/index.js'

const { values: flags } = parseArgs({
  options: {
    model: { type: 'string', default: 'minimind2-small' },
    tasks: { type: 'string', default: '16' },
    attempts: { type: 'string', default: '8' },
    sample: { type: 'string', default: '64' },
    closed: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '3' },
    micro: { type: 'string', default: '32' },
    threads: { type: 'string', default: '2' },
    continuous: { type: 'boolean', default: false },
  },
})
const [perStep, attempts, sample, rounds, threads] = [
  flags.tasks,
  flags.attempts,
  flags.sample,
  flags.rounds,
  flags.threads,
].map(Number)
const lora = { rank: 16, alpha: 32, targets: /** @type {const} */ (['q', 'k', 'v', 'o', 'gate', 'up', 'down']) }

const folder = mkdtempSync(join(tmpdir(), 'ratchet-bench-'))
execFileSync(process.execPath, [fileURLToPath(new URL('models/export.mjs', import.meta.url)), flags.model, folder])
const { service } = await openEmbeddedModel({ reference: flags.model })
const { sampler, renderer } = service
const trainer = await service.trainer({ kind: 'lora', ...lora, targets: [...lora.targets] }, 1)
// One step to warm up; no step meets a task of another, so that nothing is cached.
const tasks = askedTasks(renderer, perStep * (rounds + 1), !flags.closed)

const file = join(folder, 'case.json')
const { model: _, ...counts } = flags
const given = { ...counts, ...lora, folder, tasks, perStep, attempts, sample, threads, micro: Number(flags.micro) }
writeFileSync(file, JSON.stringify(given))
const peer = await openPeer('grpo_trl.py', { arguments: [file], threads })

/** @param {import('./grpo/tasks.mjs').Asked[]} asked */
async function step(asked, seed) {
  const [begin, cpu] = [performance.now(), process.cpuUsage()]
  const adapter = await trainer.publish()
  const params = { maxTokens: sample, temperature: 1 }
  const groups = await Promise.all(
    asked.map(({ prompt }, task) =>
      sampler.sample({ prompt, adapter, samples: attempts, params: { ...params, seed: seed + 1000 * task } }),
    ),
  )
  const sampled = performance.now()
  const data = groups.flatMap((group, task) => {
    const rewards = group.map(({ tokens }) => score(renderer.decode(tokens), asked[task]))
    const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length
    const deviation = Math.sqrt(rewards.reduce((sum, reward) => sum + (reward - mean) ** 2, 0) / rewards.length)
    return group.map((sequence, i) => datum(asked[task].prompt, sequence, (rewards[i] - mean) / (deviation + 1e-4)))
  })
  const { tokens } = await trainer.forwardBackward(data, { kind: 'ppo' })
  await trainer.optimStep({ learningRate: 1e-5, gradClipNorm: 1 })
  await sampler.unload(adapter)
  const seconds = (performance.now() - begin) / 1000
  const { user, system } = process.cpuUsage(cpu)
  const zero = data.filter(({ advantages }) => advantages.every((one) => one === 0)).length
  return { seconds, cpuSeconds: (user + system) / 1e6, sampling: (sampled - begin) / 1000, tokens, zero }
}

/** One attempt as the trainer takes it: only its own tokens have an advantage. */
function datum(prompt, { tokens, logprobs }, advantage) {
  const all = [...prompt, ...tokens]
  const before = Array.from({ length: prompt.length - 1 }, () => 0)
  const each = advantage / (perStep * attempts * sample)
  return {
    input: all.slice(0, -1),
    target: all.slice(1),
    logprobs: [...before, ...logprobs],
    advantages: [...before, ...tokens.map(() => each)],
  }
}

const ours = { seconds: [], sampling: [], training: [] }
const theirs = { ratio: [], cpu: [], sampling: [], training: [], seconds: [] }
let last
let checked
for (let round = -1; round < rounds; round++) {
  const asked = tasks.slice((round + 1) * perStep, (round + 2) * perStep)
  const own = await step(asked, 1 + round)
  const other = await peer?.ask({ step: true })
  if (round < 0) continue
  last = own
  checked = other
  ours.seconds.push(own.seconds)
  ours.sampling.push(own.sampling)
  ours.training.push(own.seconds - own.sampling)
  if (!other) continue
  theirs.seconds.push(other.seconds)
  theirs.ratio.push(other.seconds / own.seconds)
  theirs.cpu.push(other.cpuSeconds / own.cpuSeconds)
  theirs.sampling.push(other.sampling / own.sampling)
  theirs.training.push((other.seconds - other.sampling) / (own.seconds - own.sampling))
}
const title = `GRPO step ${flags.model}, ${perStep} × ${attempts} attempts of ${sample} tokens`
console.log(
  `${title}: ours ${spread(ours.seconds)} s, of it sampling ${spread(ours.sampling)}; trained on ${last.tokens.data} tokens, ${last.tokens.computed} computed; ${last.zero} attempts without advantage; ${load()}`,
)
if (peer) {
  console.log(
    `${title}: ${spread(theirs.ratio)}x ${peer.ready.name}, ${spread(theirs.seconds)} s, TRL's batch ${flags.micro}`,
  )
  console.log(
    `  sampling ${spread(theirs.sampling)}x, the rest ${spread(theirs.training)}x; ${spread(theirs.cpu)}x in CPU time`,
  )
  console.log(`  its tokens: ${checked.promptTokens} of prompts, ${checked.sampledTokens} sampled`)
  console.log(`  peak memory: ours ${memory(peakMiB())}, TRL ${memory(peer.peakMiB())}`)
} else console.log(`  peak memory: ours ${memory(peakMiB())}`)
await peer?.close()
await service.close()
rmSync(folder, { recursive: true })
