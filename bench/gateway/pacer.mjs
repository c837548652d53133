// Says when the next request is due: a thread that sleeps exactly, as the event loop's timers are a millisecond coarse.
import { parentPort, workerData } from 'node:worker_threads'
import { now } from './clock.mjs'

const { startAt, intervalMs, count } = workerData
const nothing = new Int32Array(new SharedArrayBuffer(4))

for (let next = 0; next < count; next++) {
  for (let wait; (wait = startAt + next * intervalMs - now()) > 0; ) Atomics.wait(nothing, 0, 0, wait)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window's
  parentPort.postMessage(null)
}
