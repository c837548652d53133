import { open } from 'node:fs/promises'

/** Returns when what was written to a file is on the disk. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Returns when the names in a folder are on the disk. */
export async function syncFolder(path: string): Promise<void> {
  // Windows neither needs this nor can do it.
  if (process.platform === 'win32') return
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
