// A trainer server as a process of its own, whose trainer and sampler end the process when they meet the token 66, and take
// their time. Arguments: the folder, the port. Prints its address; appends to `done.txt` what it did to the end.
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startTrainer } from '../dist/trainer/index.js'

const [folder, port] = process.argv.slice(2)
const done = (what) => appendFileSync(join(folder, 'done.txt'), `${what}\n`)

async function worked(tokens) {
  await delay(150)
  if (tokens.includes(66)) process.kill(process.pid, 'SIGKILL')
  await delay(150)
  done(tokens.join(' '))
}

let steps = 0
const logprobs = (data) => data.map(({ input }) => input.map(() => -1))
const trainer = {
  async forwardBackward(data) {
    for (const { input } of data) await worked(input)
    return { loss: 1, logprobs: logprobs(data), tokens: { data: 1, computed: 1 } }
  },
  forward: async (data) => logprobs(data),
  optimStep: async () => ({ gradNorm: 1, anchorPenalty: 0, step: ++steps }),
  saveState: async () => Uint8Array.of(steps),
  saveWeights: async () => Uint8Array.of(steps),
  loadState: async () => {},
  loadWeights: async () => {},
  close: async () => {},
}

const { url } = await startTrainer({
  service: {
    base: 'words',
    sampler: {
      capabilities: { model: 'words', vocabularySize: 100, contextLength: 512, deterministic: true },
      async sample({ prompt }) {
        await worked(prompt)
        return [{ tokens: [1], logprobs: [-1], behaviourLogprobs: [-1], stopReason: 'stop' }]
      },
      unload: async () => {},
    },
    trainer: async () => trainer,
    loadAdapter: async () => ({ kind: 'adapter', id: 'a' }),
  },
  folder,
  host: '127.0.0.1',
  port: Number(port),
  onFatal: () => process.exit(1),
  onUnexpected: (error) => console.error(error),
})
console.log(JSON.stringify({ url }))
