import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { evaluate } from './evaluate.ts'
import type { SandboxLine, SandboxRequest } from './outcome.ts'

const port = parentPort
if (port === null) throw new Error('this file is the beginning of a worker thread')
const { bell, answers }: SandboxLine = workerData

/** The code waits where it asks, and so does its thread. */
function ask(json: string): string {
  port?.postMessage({ kind: 'asks', json })
  Atomics.wait(bell, 0, 0)
  Atomics.store(bell, 0, 0)
  return String(receiveMessageOnPort(answers)?.message ?? 'null')
}

port.on('message', (request: SandboxRequest) => void evaluate(request, ask).then((end) => port.postMessage(end)))
