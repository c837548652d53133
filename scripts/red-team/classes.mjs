/** Classes of tricks: every file of a half's folder is one, and its name is the file's. */
import { existsSync, readdirSync } from 'node:fs'
import { FAMILIES } from './grammar.mjs'

/**
 * `first`: written before the defence, to build it by; `second`: written after it was frozen, and evidence for it; `third`: a
 * later round, by somebody who knew the guards by name and wrote against them.
 */
export const HALVES = ['first', 'second', 'third']

/** @returns `{ name, half, family, what, right, turn }` of each class of these halves. */
export async function classesOf(halves) {
  const found = await Promise.all(halves.flatMap((half) => filesOf(half).map((file) => load(half, file))))
  return found.toSorted(
    (a, b) => FAMILIES.indexOf(a.family) - FAMILIES.indexOf(b.family) || a.name.localeCompare(b.name),
  )
}

function filesOf(half) {
  const folder = folderOf(half)
  return existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith('.mjs')) : []
}

const folderOf = (half) => new URL(`./classes/${half}/`, import.meta.url)

async function load(half, file) {
  const { default: trick } = await import(new URL(file, folderOf(half)).href)
  if (!FAMILIES.includes(trick.family)) throw new Error(`${half}/${file}: "${trick.family}" is no family of tricks`)
  return { ...trick, half, name: file.replace(/\.mjs$/, '') }
}
