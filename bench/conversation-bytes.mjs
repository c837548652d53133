// Bytes that the store takes for one recorded conversation of so many turns, whose turns are all of one size: what grows
// faster than the turns is written again with each of them. Nothing is timed.
//   npm run build && node bench/conversation-bytes.mjs [--turns 100,400]
import { mkdtempSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { episodeRecorder, redactionOf } from '../dist/gateway/episode/index.js'
import { openStore } from '../dist/store/index.js'
import { removeWithUs } from './gateway/children.mjs'

const { values: flags } = parseArgs({ options: { turns: { type: 'string', default: '100,400' } } })
const folder = removeWithUs(mkdtempSync(join(tmpdir(), 'ratchet-bench-')))
const caller = {
  tenant: 'default',
  key: 'bench',
  scopes: new Set(['infer']),
  session: null,
  agent: null,
  subject: null,
  train: true,
  limits: { requestsPerMinute: null, concurrency: null, bodyBytes: null },
  authorization: null,
}

for (const turns of flags.turns.split(',').map(Number)) {
  const path = join(folder, String(turns), 'ratchet.db')
  const store = await openStore({ path, thread: 'main' })
  const empty = statSync(path).size
  const trajectory = await converse(store, turns)
  const recorded = JSON.stringify((await store.trajectories.get(trajectory)).trajectory).length
  const { bytes } = await store.trajectories.size(trajectory)
  await store.close()
  const file = statSync(path).size - empty
  const shown = [bytes, file, recorded].map((count) => `${count.toLocaleString('en')} (${Math.round(count / turns)})`)
  console.log(
    `${turns} turns, bytes (a turn): ${shown[0]} in parts, ${shown[1]} of the file, ${shown[2]} of JSON as exported`,
  )
}

/** One session of a user and a policy that say something of 40 characters in turn. */
async function converse(store, turns) {
  const recorder = episodeRecorder({
    store,
    config: { journalMs: 500, idempotencyHours: 24, train: true },
    mode: 'required',
    redaction: redactionOf([]),
    weightsOf: (upstream, model) => ({ kind: 'weights', base: model, baseHash: upstream, adapter: null }),
    exclusive: true,
  })
  const messages = []
  let trajectory
  for (let turn = 0; turn < turns; turn++) {
    messages.push({ role: 'user', content: `question ${turn}`.padEnd(40, '.') })
    const { record } = await recorder.begin(
      { model: 'bench', messages },
      {
        caller,
        session: 'conversation',
        agent: null,
        subject: null,
        train: true,
        idempotencyKey: null,
        retry: 0,
        signal: new AbortController().signal,
      },
    )
    const message = { role: 'assistant', content: `answer ${turn}`.padEnd(40, '.') }
    await record.finish({ answer: answerOf(message), stopReason: 'done', failure: null })
    messages.push(message)
    trajectory = record.trajectory
  }
  await recorder.close()
  return trajectory
}

function answerOf(message) {
  return {
    choices: [{ index: 0, message, finish: 'stop', tokens: null, logprobs: null, behaviourLogprobs: null }],
    usage: null,
    upstream: 'bench',
    servedModel: 'bench',
    upstreamId: null,
    promptTokens: null,
    firstTokenAt: null,
  }
}
