import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { InvariantError } from './invariant-error.ts'

/**
 * The compiled file that a worker thread begins with: beside the module that starts it, or in `dist/` when that one is a
 * source file (tests).
 * @param here `import.meta.url` of that module.
 * @param name of the entry, from there: `./entry.js`.
 * @throws InvariantError when it was not built.
 */
export function builtEntry(here: string, name: string): URL {
  const compiled = here.endsWith('.ts') ? here.replace(/\/src\/(?!.*\/src\/)/, '/dist/') : here
  const file = new URL(name, compiled)
  if (!existsSync(fileURLToPath(file)))
    throw new InvariantError(`${fileURLToPath(file)} is missing: run "npm run build"`)
  return file
}
