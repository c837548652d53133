import { Worker } from 'node:worker_threads'
import type { z } from 'zod'
import { OneAtATime } from '../../../core/index.ts'
import { builtEntry } from '../../../errors/index.ts'
import type { ServeConfig } from '../../config.ts'
import type { Redacted } from './redacted.ts'
import { unread } from './unread.ts'

/**
 * How long a text may take, in milliseconds, a new thread's start included: the worst of a megabyte takes 0.6 s on a quiet
 * machine, and a rule of one's own may take for ever.
 */
const patienceFor = ({ length }: string) => 5_000 + (8 * length) / 1_024

/**
 * Redacts long texts in a thread of its own, one at a time. It starts with the first one, and does not keep the process. A
 * text that takes too long, or ends the thread, is not written at all.
 * @param rules as the configuration has them: they have been compiled once, and are right.
 */
export function redactionThread(
  rules: z.infer<typeof ServeConfig>['redact'],
  { patience = patienceFor }: { readonly patience?: (text: string) => number } = {},
): (text: string) => Promise<Redacted<string>> {
  const oneAtATime = new OneAtATime()
  let worker: Worker | null = null
  let give: (redacted: Redacted<string> | null) => void = () => {}
  const start = () => {
    const thread = new Worker(builtEntry(import.meta.url, './redaction-thread-entry.js'), {
      workerData: rules,
      execArgv: [],
    })
    const ended = () => {
      if (worker !== thread) return
      worker = null
      give(null)
    }
    thread.on('message', (redacted: Redacted<string>) => give(redacted))
    thread.on('error', ended)
    thread.on('exit', ended)
    return thread
  }
  const ask = (text: string) =>
    new Promise<Redacted<string>>((resolve) => {
      const thread = (worker ??= start())
      const timer = setTimeout(() => {
        worker = null
        void thread.terminate()
        give(null)
      }, patience(text))
      give = (redacted) => {
        clearTimeout(timer)
        thread.unref()
        resolve(redacted ?? { value: unread, changed: true })
      }
      thread.ref()
      thread.postMessage(text, [])
    })
  return (text) => oneAtATime.run(() => ask(text))
}
