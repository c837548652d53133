import { existsSync, renameSync } from 'node:fs'

/**
 * Makes room for an empty store at `folder`: an earlier one is moved aside to the first free of `folder.1`, `folder.2` …
 * @returns where the earlier one went; `null` when there was none.
 */
export function moveStoreAside(folder: string): string | null {
  if (!existsSync(folder)) return null
  for (let n = 1; ; n++) {
    const aside = `${folder}.${n}`
    if (existsSync(aside)) continue
    renameSync(folder, aside)
    return aside
  }
}
