import { cpSync, rmSync } from 'node:fs'

/** Copies a store that no process has open, as it stands, in the place of whatever was there; returns where. */
export function copyOf(store, folder) {
  rmSync(folder, { recursive: true, force: true })
  cpSync(store, folder, { recursive: true })
  return folder
}
