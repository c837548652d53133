import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { compileFunction } from 'node:vm'
import type * as XGrammar from '@mlc-ai/web-xgrammar'

/** The library, and what it said since it was last asked. */
export interface Library {
  readonly api: typeof XGrammar
  takeWords(): string
}

/**
 * xgrammar (Dong et al., "XGrammar: Flexible and Efficient Structured Generation Engine for Large Language Models", 2024),
 * compiled to WebAssembly. Its package names CommonJS as a module, which Node cannot import: it is read and compiled here.
 * It is given no process, no network and no console of ours; the WebAssembly is in the file. Every call makes an instance
 * of its own: one that has aborted, as it does where C++ would throw, is not used again.
 */
export function loadXGrammar(): Library {
  const file = createRequire(import.meta.url).resolve('@mlc-ai/web-xgrammar')
  let words = ''
  const say = (...said: readonly unknown[]) => {
    words = `${words}${said.join(' ')}\n`.slice(-2_000)
  }
  const given: Record<string, unknown> = {
    exports: {},
    module: {},
    location: { href: pathToFileURL(file).href },
    console: { log: say, warn: say, error: say },
    ...Object.fromEntries(
      ['process', 'require', 'fetch', 'XMLHttpRequest', 'document', 'window'].map((name) => [name, undefined]),
    ),
  }
  compileFunction(readFileSync(file, 'utf8'), Object.keys(given), { filename: file }).apply(
    undefined,
    Object.values(given),
  )
  return {
    api: given['exports'] as typeof XGrammar,
    takeWords() {
      const taken = words.trim()
      words = ''
      return taken
    },
  }
}
