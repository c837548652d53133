// CPU time of processes from /proc (Linux), all their threads, also those that have ended.
import { readdirSync, readFileSync } from 'node:fs'

/** Ticks a second of the times in /proc, on every Linux that Node runs on. */
const ticksPerSecond = 100

/** The fields of a `stat` file behind the command's name, which may hold anything: [2] is the parent, [11] and [12] the times. */
const fieldsOf = (path) => {
  const text = readFileSync(path, 'latin1')
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}

const secondsAt = (path) => {
  const fields = fieldsOf(path)
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

/** A process and everything that it started. */
export function processTree(pid) {
  const children = new Map()
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    try {
      const parent = Number(fieldsOf(`/proc/${entry}/stat`)[1])
      children.set(parent, [...(children.get(parent) ?? []), Number(entry)])
    } catch {
      // It ended meanwhile.
    }
  }
  const all = [pid]
  for (const one of all) all.push(...(children.get(one) ?? []))
  return all
}

/** Seconds of CPU so far: of the processes together, and of the first one's main thread. */
export function cpuSeconds(pids) {
  let all = 0
  for (const pid of pids) all += secondsAt(`/proc/${pid}/stat`)
  return { all, mainThread: secondsAt(`/proc/${pids[0]}/task/${pids[0]}/stat`) }
}
