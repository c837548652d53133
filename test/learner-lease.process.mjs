// A learner of the reader's traffic as a process of its own, with a trainer that takes its time and learns to count.
// Arguments: the database's URL, the name of this process.
import { setTimeout as delay } from 'node:timers/promises'
import { servedAgent, weights } from '../dist/agent/index.js'
import { LearnFromTrafficConfig, startLearner, trafficLearner } from '../dist/learn/index.js'
import { openStore } from '../dist/store/index.js'

const [url, holder] = process.argv.slice(2)

const bytes = (state) => new TextEncoder().encode(JSON.stringify(state))
const read = (state) => JSON.parse(new TextDecoder().decode(state))

function trainer() {
  let steps = 0
  const zeros = (data) => data.map(({ input }) => input.map(() => 0))
  return {
    anchoring: null,
    capabilities: { losses: ['cross_entropy', 'ppo'], temperatures: true, saves: 'bytes' },
    async forwardBackward(data) {
      await delay(60)
      return { loss: 1, logprobs: zeros(data), tokens: { data: 1, computed: 1 } }
    },
    forward: async (data) => zeros(data),
    optimStep: async () => ({ gradNorm: 1, anchorPenalty: 0, step: ++steps }),
    saveState: async () => bytes({ steps }),
    saveWeights: async () => bytes({ steps }),
    loadState: async (state) => void (steps = read(state).steps),
    loadWeights: async () => {},
    publish: async () => ({ kind: 'adapter', id: 'a' }),
    discard: async () => {},
    close: async () => {},
  }
}

const model = {
  base: 'words',
  baseHash: 'the words as they are',
  sampler: {
    capabilities: { model: 'words', vocabularySize: 2 ** 32, contextLength: 4_096, deterministic: true },
    // What a run compares with its trainer, before it learns: one token that both are sure of.
    sample: async () => [{ tokens: [3], behaviourLogprobs: [0], logprobs: [0], stopReason: 'stop' }],
    unload: async () => {},
  },
  renderer: { start: () => [1, 2], stop: { tokens: [] } },
  trainer: async () => trainer(),
  loadAdapter: async () => ({ kind: 'adapter', id: 'a' }),
  close: async () => {},
}

const store = await openStore({ url })
const config = LearnFromTrafficConfig.parse({
  mode: 'automatic',
  every: '1h',
  minEpisodes: 8,
  settle: '10m',
  lease: '1s',
  watchEvery: '1s',
  rubric: { signals: { thumbs: {} } },
  reporters: { share: 1, trusted: ['k'] },
  policy: { minibatches: 2 },
  schedule: { epochs: 12 },
})
const options = trafficLearner({
  agent: servedAgent({ name: 'reader', parameters: { model: weights({ base: 'words', rank: 4 }) } }),
  tenant: 'default',
  config,
  store,
  openModel: async () => model,
  onEvent: (event) => process.stdout.write(`${JSON.stringify(event)}\n`),
})
const learner = startLearner({ ...options, holder })
process.once('SIGTERM', () => void learner.stop())
await learner.done
await store.close()
