import { printable } from '../../core/index.ts'

/** The folders that there are. They never change: no tool makes or removes one. */
export const folders = ['inbox', 'archive', 'home', 'school', 'museum', 'farm', 'park', 'market'] as const

/** A name without a folder is in this one, as in a shell whose working directory it is. */
export const workingFolder = 'inbox'

/** Lower-case letters and digits, with `-` inside; at most 32 characters. Neither `..` nor an empty name is one. */
export const fileName = /^[a-z0-9][a-z0-9-]{0,31}$/

/** `FOLDER/NAME`, in full. */
export const fullPath = new RegExp(`^(?:${folders.join('|')})/${fileName.source.slice(1)}`)

/** What a tool makes of its argument, or what is wrong with it in words that teach. */
export type Read<T> = { readonly value: T } | { readonly problem: string }

export function isFolder(name: string): boolean {
  return folders.some((folder) => folder === name)
}

/** Where `NAME` or `FOLDER/NAME` is, in full. The problem says no more about a path outside than about a bad name. */
export function readPath(text: string): Read<string> {
  const path = text.includes('/') ? text : `${workingFolder}/${text}`
  return fullPath.test(path) ? { value: path } : { problem: `no path "${printable(text, 20)}": use a name` }
}

/** Where a file named `from` goes when it is brought to `to`: a folder keeps its name, `FOLDER/NAME` gives it another. */
export function readTarget(from: string, to: string): Read<string> {
  if (isFolder(to)) return { value: `${to}/${from.slice(from.indexOf('/') + 1)}` }
  return to.includes('/') ? readPath(to) : { problem: noFolder(to) }
}

/** What is said of a folder that does not exist. */
export function noFolder(name: string): string {
  return `no folder "${printable(name, 20)}": use ${workingFolder} or archive`
}
