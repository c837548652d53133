// Runs one side for a time, and says how fast it was and what that cost this thread and the process.
import { monitorEventLoopDelay } from 'node:perf_hooks'

/**
 * @param work writes until `isOver()`, and resolves with the number of records that were acknowledged.
 */
export async function measure(seconds, work) {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const cpu = process.cpuUsage()
  const loop = performance.eventLoopUtilization()
  const begun = performance.now()
  const records = await work(() => performance.now() - begun > seconds * 1000)
  const elapsed = (performance.now() - begun) / 1000
  const { user, system } = process.cpuUsage(cpu)
  const { utilization } = performance.eventLoopUtilization(loop)
  delay.disable()
  return {
    perSecond: records / elapsed,
    /** Microseconds of the process, all threads, a record. */
    cpu: (user + system) / records,
    /** Microseconds a record during which this thread served nobody else. */
    busy: (utilization * elapsed * 1e6) / records,
    /** Milliseconds that a timer comes late: the monitor's own period of 1 ms is taken off. */
    lateP50: Math.max(0, delay.percentile(50) / 1e6 - 1),
    lateP99: Math.max(0, delay.percentile(99) / 1e6 - 1),
  }
}

/** Callers that each wait for their write before the next. */
export async function concurrently(callers, isOver, write) {
  let written = 0
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (!isOver()) {
        await write()
        written++
      }
    }),
  )
  return written
}
