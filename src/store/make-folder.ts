import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Makes a folder and those above it, one by one. Node's own `recursive` never ends where the file system takes no folders, as
 * under `/proc`.
 * @throws what the file system says.
 */
export async function makeFolder(folder: string): Promise<void> {
  const above = dirname(folder)
  try {
    await makeOne(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || above === folder) throw error
    await makeFolder(above)
    await makeOne(folder)
  }
}

async function makeOne(folder: string): Promise<void> {
  try {
    await mkdir(folder)
  } catch (error) {
    const stands = (error as NodeJS.ErrnoException).code === 'EEXIST' && (await stat(folder)).isDirectory()
    if (!stands) throw error
  }
}
