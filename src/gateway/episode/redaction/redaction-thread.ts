import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { z } from 'zod'
import { OneAtATime } from '../../../core/index.ts'
import { InvariantError } from '../../../errors/index.ts'
import type { ServeConfig } from '../../config.ts'
import type { Redacted } from './redacted.ts'

/** Text that no rule could be applied to in time. */
export const unread = '[unread]'

/** One text may take this long: the worst of the largest takes ten seconds, and a rule of one's own may take for ever. */
const patienceMs = 30_000

/**
 * Redacts long texts in a thread of its own, one at a time. It starts with the first one, and does not keep the process. A
 * text that takes too long, or ends the thread, is not written at all.
 * @param rules as the configuration has them: they have been compiled once, and are right.
 */
export function redactionThread(
  rules: z.infer<typeof ServeConfig>['redact'],
  { patience = patienceMs }: { readonly patience?: number } = {},
): (text: string) => Promise<Redacted<string>> {
  const oneAtATime = new OneAtATime()
  let worker: Worker | null = null
  let give: (redacted: Redacted<string> | null) => void = () => {}
  const start = () => {
    const thread = new Worker(entryFile(), { workerData: rules, execArgv: [] })
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
      }, patience)
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

/** The compiled entry file: beside this one, or in `dist/` when this one is a source file (tests). */
function entryFile(): URL {
  const here = import.meta.url
  const compiled = here.endsWith('.ts') ? here.replace(/\/src\/(?!.*\/src\/)/, '/dist/') : here
  const file = new URL('./redaction-thread-entry.js', compiled)
  if (!existsSync(fileURLToPath(file)))
    throw new InvariantError(`${fileURLToPath(file)} is missing: run "npm run build"`)
  return file
}
