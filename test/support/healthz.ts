import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'

/** What /healthz of a gateway took at most while `work` ran, for the log: a test asserts no time. */
export async function watching<T>(url: string, what: string, work: () => Promise<T>): Promise<T> {
  let longest = 0
  const state = { over: false }
  const watch = (async () => {
    while (!state.over) {
      const began = performance.now()
      expect((await fetch(`${url}/healthz`)).status).toBe(200)
      longest = Math.max(longest, performance.now() - began)
      await delay(5)
    }
  })()
  try {
    return await work()
  } finally {
    state.over = true
    await watch
    console.log(`${what}: /healthz took ${Math.round(longest)} ms at most`)
  }
}
