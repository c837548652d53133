// Loaded into the gateway's process before it (`--import`), and into each of its threads: profiles and measures them when it
// is told to. The main thread is told in messages of its parent process, and tells the others.
import { readFileSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { PerformanceObserver } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { getHeapStatistics } from 'node:v8'
import workerThreads, { BroadcastChannel, isMainThread, threadId, Worker } from 'node:worker_threads'

const session = new Session()
const threads = new BroadcastChannel('ratchet-bench-probe')
threads.unref()

/** Other work on the machine makes an answer late, but takes none of this thread's CPU. */
const turns = { longest: 0, watched: false }
const cpuMs = () => Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6

function watchTurns() {
  if (turns.watched) return
  turns.watched = true
  let before = cpuMs()
  setInterval(() => {
    const now = cpuMs()
    turns.longest = Math.max(turns.longest, now - before)
    before = now
  }, 2).unref()
}

/** Milliseconds: of CPU that the main thread had, and that it waited for a core while it could have run. */
const scheduled = () =>
  readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8')
    .split(' ', 2)
    .map((nanoseconds) => Number(nanoseconds) / 1e6)

const watch = { timer: null, turns: [], collections: [], observer: null }

/** Bytes of memory that V8 holds for this thread's heap, whether objects use them or not. */
const heapHeld = () => getHeapStatistics().total_physical_size

/** Of every other thread; one that does not answer in half a second is busy, and left out. */
async function heapsOfThreads() {
  const held = []
  const answers = new BroadcastChannel(threads.name)
  answers.addEventListener('message', ({ data }) => data.kind === 'held' && held.push(data.bytes))
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window's
  threads.postMessage({ kind: 'heap' })
  await sleep(500)
  answers.close()
  return held
}

function mappedFiles() {
  const rollup = readFileSync('/proc/self/smaps_rollup', 'utf8')
  const kib = (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(rollup)?.[1])
  return (kib('Rss') - kib('Anonymous')) * 1024
}

const commands = {
  /** From now on notes how far apart turns of the main thread's event loop are, and each garbage collection. */
  startWatch() {
    Object.assign(watch, { turns: [], collections: [] })
    watch.observer = new PerformanceObserver((list) => {
      for (const { duration, detail } of list.getEntries()) watch.collections.push({ ms: duration, kind: detail.kind })
    })
    watch.observer.observe({ entryTypes: ['gc'] })
    let at = performance.now()
    let [cpu, waited] = scheduled()
    watch.timer = setInterval(() => {
      const [nowCpu, nowWaited] = scheduled()
      const now = performance.now()
      watch.turns.push({ ms: now - at, cpu: nowCpu - cpu, waited: nowWaited - waited })
      at = now
      cpu = nowCpu
      waited = nowWaited
    }, 1)
  },
  stopWatch() {
    clearInterval(watch.timer)
    watch.observer.disconnect()
    return { turns: watch.turns, collections: watch.collections }
  },
  async startProfile() {
    session.connect()
    await session.post('Profiler.enable')
    await session.post('Profiler.setSamplingInterval', { interval: 500 })
    await session.post('Profiler.start')
  },
  async stopProfile({ folder }) {
    const { profile } = await session.post('Profiler.stop')
    session.disconnect()
    writeFileSync(join(folder, `thread-${threadId}.json`), JSON.stringify(profile))
  },
  /** Milliseconds of CPU that one turn of the main thread's event loop took at most since this was asked last. */
  turn() {
    watchTurns()
    const longest = turns.longest
    turns.longest = 0
    return { longest }
  },
  /**
   * Bytes: of the process as they are, of what V8 holds for the heaps of all threads, of files that are mapped; then of this
   * thread's heap with nothing in it that is not used any more. `rest` is what nobody of these holds: the allocator's.
   */
  async memory() {
    const { rss } = process.memoryUsage()
    const heaps = (await heapsOfThreads()).reduce((sum, bytes) => sum + bytes, heapHeld())
    const files = mappedFiles()
    globalThis.gc()
    const { heapUsed, external } = process.memoryUsage()
    return { rss, heaps, files, rest: rss - heaps - files, heapUsed, external }
  },
  /** Told to every thread but the main one: answers on the channel. */
  heap() {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window's
    threads.postMessage({ kind: 'held', bytes: heapHeld() })
  },
}

async function obey(command) {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window's
  if (command.everywhere) threads.postMessage(command)
  process.send((await commands[command.kind](command)) ?? {})
}

if (isMainThread) {
  process.on('message', (command) => void obey(command))
  process.channel.unref()
  workerThreads.Worker = class extends Worker {
    constructor(file, options) {
      super(file, { ...options, execArgv: ['--import', import.meta.url] })
    }
  }
  syncBuiltinESMExports()
} else {
  threads.addEventListener('message', ({ data }) => void commands[data.kind]?.(data))
}
