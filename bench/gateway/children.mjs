// Processes end with the one that started them, and folders go, also when it is interrupted.
import { rmSync } from 'node:fs'
import { processTree } from './cpu.mjs'

const children = new Set()
const folders = new Set()

/** Ends it, with all that it started, when this process ends. */
export function endWithUs(child) {
  children.add(child)
  child.once('exit', () => children.delete(child))
  return child
}

/** Removes it when this process ends. */
export function removeWithUs(folder) {
  folders.add(folder)
  return folder
}

process.once('exit', () => {
  for (const { pid } of children) for (const one of processTree(pid).toReversed()) end(one)
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))

function end(pid) {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}
