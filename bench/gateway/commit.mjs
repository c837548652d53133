// What making one call durable takes on the same disk, with nothing else under way: the flush alone, and the store's append.
import { closeSync, fsyncSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { openStore } from '../../dist/store/index.js'
import { call } from '../store/records.mjs'
import { quantiles } from './figures.mjs'

const count = 1_000

async function timed(work) {
  const took = []
  for (let i = -50; i < count; i++) {
    const begun = performance.now()
    await work(i + 50)
    if (i >= 0) took.push(performance.now() - begun)
    // As calls do that come one by one.
    await new Promise((resolve) => setImmediate(resolve))
  }
  return quantiles(took)
}

/** Pages of the file that flushes go round in, as SQLite's log does: as many as the log has. */
const pages = 1_000

/** Milliseconds that `fsync` takes behind 4 KB written over what a file already holds. */
export async function flushAlone(folder) {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'flush')
  const file = openSync(path, 'w')
  const page = Buffer.alloc(4_096, 1)
  try {
    writeSync(file, Buffer.alloc(pages * page.length))
    fsyncSync(file)
    return await timed((i) => {
      writeSync(file, page, 0, page.length, (i % pages) * page.length)
      fsyncSync(file)
    })
  } finally {
    closeSync(file)
    rmSync(path)
  }
}

/** Milliseconds that the store takes for one call of 4 KB, from the append until it is durable. */
export async function appendAlone(location) {
  const store = await openStore(location)
  try {
    const prefix = `${process.pid}-${Date.now()}`
    return await timed((i) => store.traffic.append(call(`alone-${prefix}-${i}`, 0)))
  } finally {
    await store.close()
  }
}
