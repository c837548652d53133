import pc from 'picocolors'
import { type Alert, visible } from '../../core/index.ts'
import { minuteOf } from '../when.ts'
import { withStore } from '../with-store.ts'
import type { AgentFlags } from './release/agent.ts'

/** `ratchet alerts`: what people should know of their agents, newest first, and the learning runs that it opened. */
export function alertsCommand({ limit, ...flags }: AgentFlags & { readonly limit: number }): Promise<void> {
  return withStore(flags, 'read', async (store) => {
    const alerts = await store.alerts.list({ ...(flags.agent === undefined ? {} : { agent: flags.agent }), limit })
    if (alerts.length === 0 && !flags.json) process.stdout.write(`${pc.dim('No alerts.')}\n`)
    for (const alert of alerts) process.stdout.write(`${flags.json ? JSON.stringify(alert) : lineOf(alert)}\n`)
  })
}

function lineOf({ at, agent, kind, name, message, run }: Alert): string {
  const opened = run === null ? '' : pc.dim(` (${kind === 'drift' ? 'opened' : 'in'} ${run})`)
  return `${minuteOf(at)}  ${visible(agent)}  ${pc.yellow(kind)}  ${visible(name)}: ${visible(message)}${opened}`
}
