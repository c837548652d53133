// A thread that asks the gateway for /healthz again and again, and knows how long the longest answer took.
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

/** Milliseconds between two questions; of silence that count as rest. */
const everyMs = 2
const restMs = 30

const { host, port } = workerData
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
let longest = 0
const counted = { answered: 0 }

function probe() {
  return new Promise((resolve, reject) => {
    const asked = request({ host, port, path: '/healthz', agent }, (response) => {
      response.resume()
      response.once('end', resolve)
    })
    asked.once('error', reject)
    asked.end()
  })
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window's
const tell = (answer) => parentPort.postMessage(answer)

parentPort.on('message', (question) => void answer(question))

async function answer(question) {
  if (question === 'worst') {
    tell(longest)
    longest = 0
    return
  }
  // Until some answers in a row have come: what began before is counted.
  await sleep(restMs)
  const enough = counted.answered + 3
  while (counted.answered < enough) await sleep(everyMs)
  tell('rested')
}

for (;;) {
  const began = performance.now()
  await probe()
  longest = Math.max(longest, performance.now() - began)
  counted.answered++
  await sleep(everyMs)
}
