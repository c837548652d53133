import { StringTools } from '../string-tools.ts'
import type { Read } from './path.ts'

/** Longest argument a tool takes, in UTF-16 code units: work per call stays bounded. */
export const maxArgumentLength = 256

const parameterOf = {
  list: 'folder',
  read: 'file',
  move: 'words',
  copy: 'words',
  write: 'words',
  delete: 'file',
  done: null,
} as const

/** The tools of a file episode. Each takes one string, `done` none; two-part strings are parted by the first space. */
export type FileTool = keyof typeof parameterOf

const tools = new StringTools<FileTool>(
  {
    list: { does: 'Lists the names in a folder.', takes: parameterOf.list },
    read: { does: 'Shows a file.', takes: parameterOf.read },
    move: { does: 'FILE FOLDER: brings the file to the folder.', takes: parameterOf.move },
    copy: { does: 'FILE FOLDER: puts a copy of the file into the folder.', takes: parameterOf.copy },
    write: { does: 'FILE TEXT: writes the text to the file.', takes: parameterOf.write },
    delete: { does: 'Deletes a file.', takes: parameterOf.delete },
    done: { does: 'Ends the job.', takes: parameterOf.done },
  },
  maxArgumentLength,
)

/** As the policy sees them. */
export const fileTools = tools.definitions

export function isFileTool(name: string): name is FileTool {
  return tools.has(name)
}

/** The arguments object of a call: what a script writes. `text` is ignored by `done`. */
export function fileArguments(name: FileTool, text = ''): Readonly<Record<string, string>> {
  return tools.argumentsOf(name, text)
}

/** The one string of a call without white space at its ends, whatever it was given; empty for `done`. */
export function readText(name: FileTool, given: unknown): Read<string> {
  const parameter = parameterOf[name]
  const entries: [string, unknown][] = typeof given === 'object' && given !== null ? Object.entries(given) : []
  if (parameter === null) return entries.length === 0 ? { value: '' } : { problem: `${name} takes no argument` }
  const [key, value] = entries[0] ?? []
  if (entries.length !== 1 || key !== parameter || typeof value !== 'string') return { problem: usage(name, parameter) }
  if (value.length > maxArgumentLength) return { problem: `${parameter} is longer than ${maxArgumentLength}` }
  const text = value.trim()
  return text === '' ? { problem: usage(name, parameter) } : { value: text }
}

const usage = (name: FileTool, parameter: string) => `${name} takes one string: {"${parameter}": "…"}`

/** A file, and what comes after the first white space: a folder, or text. */
export function readPair(name: 'move' | 'copy' | 'write', text: string): Read<readonly [file: string, rest: string]> {
  const [, file, rest] = /^(\S+)\s+(.+)$/su.exec(text) ?? []
  return file === undefined || rest === undefined
    ? { problem: `${name} takes FILE ${name === 'write' ? 'TEXT' : 'FOLDER'}` }
    : { value: [file, rest] }
}
