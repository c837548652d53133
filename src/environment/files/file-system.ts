import { printable } from '../../core/index.ts'
import { isFolder, noFolder, type Read, readPath, readTarget } from './path.ts'

/** Full paths (`inbox/forest`) and what the files hold. */
export type Files = Readonly<Record<string, string>>

/** More files than this are refused, so that no sequence of calls grows without bound. */
const maxFiles = 64

/**
 * Folders of text files in memory. Paths are `FOLDER/NAME`, or `NAME` in the inbox. Every operation returns what it shows
 * or what is wrong, and changes nothing in the latter case. Nothing but `write` replaces a file that is there.
 */
export class FileSystem {
  readonly #files: Map<string, string>

  /** @param files by their full paths. */
  constructor(files: Files) {
    this.#files = new Map(Object.entries(files))
  }

  /** Every file, sorted by path. */
  files(): Files {
    return Object.fromEntries([...this.#files].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** The names in a folder, one a line, alphabetically. */
  list(folder: string): Read<string> {
    if (!isFolder(folder)) return { problem: noFolder(folder) }
    const prefix = `${folder}/`
    const names = [...this.#files.keys()].filter((path) => path.startsWith(prefix))
    const lines = names.map((path) => path.slice(prefix.length)).sort()
    return { value: lines.length === 0 ? 'nothing' : lines.join('\n') }
  }

  /** What a file holds. */
  read(path: string): Read<string> {
    const found = this.#find(path)
    return 'problem' in found ? found : { value: found.value.text }
  }

  /** Brings a file to a folder, or to `FOLDER/NAME`. */
  move(from: string, to: string): Read<string> {
    return this.#bring(from, to, 'moved')
  }

  /** As {@link move}, and the file stays where it was, too. */
  copy(from: string, to: string): Read<string> {
    return this.#bring(from, to, 'copied')
  }

  /** Makes a file, or replaces what it holds. */
  write(path: string, text: string): Read<string> {
    const target = readPath(path)
    if ('problem' in target) return target
    return this.#put(target.value, text, 'written')
  }

  delete(path: string): Read<string> {
    const found = this.#find(path)
    if ('problem' in found) return found
    this.#files.delete(found.value.path)
    return { value: 'deleted' }
  }

  #bring(from: string, to: string, done: 'moved' | 'copied'): Read<string> {
    const found = this.#find(from)
    if ('problem' in found) return found
    const { path, text } = found.value
    const target = readTarget(path, to)
    if ('problem' in target) return target
    if (this.#files.has(target.value)) return { problem: `${target.value} is there already` }
    // A move frees the place that it takes, so that it succeeds on a full disk.
    if (done === 'moved') this.#files.delete(path)
    return this.#put(target.value, text, done)
  }

  #put(path: string, text: string, done: string): Read<string> {
    if (this.#files.size >= maxFiles && !this.#files.has(path)) return { problem: 'the disk is full: delete a file' }
    this.#files.set(path, text)
    return { value: done }
  }

  #find(name: string): Read<{ readonly path: string; readonly text: string }> {
    const path = readPath(name)
    if ('problem' in path) return path
    const text = this.#files.get(path.value)
    return text === undefined
      ? { problem: `no file "${printable(name, 20)}": list inbox` }
      : { value: { path: path.value, text } }
  }
}
