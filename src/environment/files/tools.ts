import type { ToolDefinition } from '../../core/index.ts'
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

/** As the policy sees them. */
export const fileTools: readonly ToolDefinition[] = [
  tool('list', 'Lists the names in a folder.'),
  tool('read', 'Shows a file.'),
  tool('move', 'FILE FOLDER: brings the file to the folder.'),
  tool('copy', 'FILE FOLDER: puts a copy of the file into the folder.'),
  tool('write', 'FILE TEXT: writes the text to the file.'),
  tool('delete', 'Deletes a file.'),
  tool('done', 'Ends the job.'),
]

function tool(name: FileTool, description: string): ToolDefinition {
  const parameter = parameterOf[name]
  return {
    name,
    description,
    parameters: {
      type: 'object',
      properties: parameter === null ? {} : { [parameter]: { type: 'string' } },
      required: parameter === null ? [] : [parameter],
      additionalProperties: false,
    },
  }
}

export function isFileTool(name: string): name is FileTool {
  return Object.hasOwn(parameterOf, name)
}

/** The arguments object of a call: what a script writes. `text` is ignored by `done`. */
export function fileArguments(name: FileTool, text = ''): Readonly<Record<string, string>> {
  const parameter = parameterOf[name]
  return parameter === null ? {} : { [parameter]: text }
}

/** The one string of a call without white space at its ends; empty for `done`. */
export function readText(name: FileTool, given: Readonly<Record<string, unknown>>): Read<string> {
  const parameter = parameterOf[name]
  const keys = Object.keys(given)
  if (parameter === null) return keys.length === 0 ? { value: '' } : { problem: `${name} takes no argument` }
  const value = Object.hasOwn(given, parameter) ? given[parameter] : undefined
  if (keys.length !== 1 || typeof value !== 'string') return { problem: usage(name, parameter) }
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
