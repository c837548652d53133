import { readFile } from 'node:fs/promises'
import { cpus } from 'node:os'

/** The rows of a file of JSON lines; none where there is no file yet. */
export async function rowsIn(file) {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

/** When and where a row is measured. */
export const measuredHere = () => ({ date: new Date().toISOString().slice(0, 10), cpu: cpus()[0]?.model ?? 'unknown' })
