import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** What a command says where a peer is missing. */
export const install =
  'python3.11 -m venv VENV && VENV/bin/pip install -r bench/peers/requirements.txt, then PYTHON=VENV/bin/python'

/**
 * A peer: a Python program that answers one line of JSON to each line of JSON. Its first line says which versions it
 * has. It gets the threads that ours gets.
 * @param {string} script a file of this folder
 * @param {{ arguments?: readonly string[], threads: number, say?: (text: string) => void }} given
 * @returns {Promise<{ ready: any, ask(request: object): Promise<any>, peakMiB(): number, close(): Promise<void> } | null>}
 * null, and a line that says why, where it cannot start.
 */
export async function openPeer(script, { arguments: given = [], threads, say = console.log }) {
  const python = process.env.PYTHON ?? 'python3'
  const child = spawn(python, [fileURLToPath(new URL(script, import.meta.url)), ...given], {
    env: {
      ...process.env,
      OMP_NUM_THREADS: String(threads),
      TOKENIZERS_PARALLELISM: 'false',
      HF_HUB_OFFLINE: '1',
      CUDA_VISIBLE_DEVICES: '',
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let complaint = ''
  child.stderr.on('data', (text) => {
    complaint = (complaint + text).slice(-4000)
  })
  child.on('error', (error) => {
    complaint += error.message
  })
  child.stdin.on('error', () => undefined)
  const ended = new Promise((resolve) => child.once('close', resolve))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const answer = async () => {
    const { value, done } = await lines.next()
    if (!done) return JSON.parse(value)
    await ended
    throw new Error(complaint.trim() || `${script} ended`)
  }
  const close = async () => {
    child.stdin.end()
    await ended
  }
  try {
    const ready = await answer()
    return {
      ready,
      ask: (request) => {
        child.stdin.write(`${JSON.stringify(request)}\n`)
        return answer()
      },
      peakMiB: () => peakMiB(child.pid),
      close,
    }
  } catch (error) {
    const why = String(error instanceof Error ? error.message : error)
      .split('\n')
      .at(-1)
    say(`no ratio to ${script}: ${why}. Install it: ${install}`)
    await close()
    return null
  }
}

/**
 * The most memory that a process held, as Linux counts it. `getrusage` would not do: a new process inherits the peak of
 * the one that started it.
 * @param {number | 'self'} [pid]
 */
export function peakMiB(pid = 'self') {
  try {
    const [, kib] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(kib) / 1024
  } catch {
    return Number.NaN
  }
}
