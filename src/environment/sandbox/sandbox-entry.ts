import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { evaluate } from './evaluate.ts'
import type { SandboxLine, SandboxRequest } from './outcome.ts'

const port = parentPort
if (port === null) throw new Error('this file is the beginning of a worker thread')
const { bell, answers }: SandboxLine = workerData

/**
 * The code waits where it asks, and so does its thread: until the bell says that the answer is there. Being woken does not say
 * so: a wake-up that comes late for one question ends the wait for the next. Without an answer the thread ends.
 */
function ask(json: string): string {
  port?.postMessage({ kind: 'asks', json })
  while (Atomics.exchange(bell, 0, 0) === 0) Atomics.wait(bell, 0, 0)
  const answer = receiveMessageOnPort(answers)
  if (answer === undefined) process.exit(1)
  return String(answer.message)
}

port.on('message', (request: SandboxRequest) => void evaluate(request, ask).then((end) => port.postMessage(end)))
