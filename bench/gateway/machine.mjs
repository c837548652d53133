// Where figures were taken.
import { execFileSync } from 'node:child_process'
import { statfsSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'

/** Numbers of Linux's file systems that are no disk. */
const notDisks = new Map([
  [0x01021994, 'tmpfs'],
  [0x858458f6, 'ramfs'],
])

export function machine() {
  const [cpu] = cpus()
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`
  const busy = loadavg()[0].toFixed(1)
  return `${availableParallelism()} cores of ${cpu?.model ?? 'an unknown CPU'}, ${memory}, Node ${process.versions.node}, commit ${commit()}, load average ${busy} before the run`
}

/** @throws Error when the folder is no place to measure a disk. */
export function assertDisk(folder) {
  const name = notDisks.get(statfsSync(folder).type)
  if (name) throw new Error(`${folder} is in memory (${name}): choose a folder on a disk with --folder`)
}

function commit() {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return 'unknown'
  }
}
