import { parentPort, workerData } from 'node:worker_threads'
import { present } from '../../../errors/index.ts'
import { Compiler } from './compiler.ts'

/* The file that the thread of a GrammarTrial runs: says `ready`, then of each grammar what is wrong with it. */

const port = present(parentPort, 'the port of the thread')
const compiler = await Compiler.open(workerData as readonly string[], 1)
port.on('message', (ebnf: string) => {
  void compiler.compile(ebnf).then(
    () => port.postMessage(null),
    (error: unknown) => port.postMessage(error instanceof Error ? error.message : String(error)),
  )
})
port.postMessage('ready')
