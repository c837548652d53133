import { readFile } from 'node:fs/promises'

/** The rows of a file of JSON lines; none where there is no file yet. */
export async function rowsIn(file) {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}
