import { parentPort, workerData } from 'node:worker_threads'
import { present } from '../../../errors/index.ts'
import { rulesOf } from './redaction.ts'

const port = present(parentPort, 'the port of a worker thread')
// What a thread is started with is what the configuration was parsed to.
const rules = rulesOf(workerData as Parameters<typeof rulesOf>[0], { kept: new Set(), patience: null })
port.on('message', (text: string) => port.postMessage(rules.redact(text)))
