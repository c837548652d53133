// What making one call durable takes on the same disk, with nothing else under way: the flush alone, and the store's append.
import { closeSync, fdatasyncSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
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

/** Milliseconds that `fdatasync` takes behind 4 KB at the end of a file. */
export async function flushAlone(folder) {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'flush')
  const file = openSync(path, 'w')
  const page = Buffer.alloc(4_096, 1)
  try {
    return await timed(() => {
      writeSync(file, page)
      fdatasyncSync(file)
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
