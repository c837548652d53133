import pc from 'picocolors'
import { parseInput, ReleaseId, visible } from '../../../core/index.ts'
import { shownCanary } from '../../../release/index.ts'
import { type Changed, changeServing, type ChangeFlags } from './change-serving.ts'
import { printOutcome } from './print-outcome.ts'

/** `ratchet rollback [RELEASE]`: a canary that runs, else the release that serves, goes back at once. */
export async function rollbackCommand(release: string | undefined, flags: ChangeFlags): Promise<void> {
  const to = release === undefined ? undefined : parseInput(ReleaseId, release, 'The release')
  const outcome = await changeServing(flags, {
    command: ['ratchet rollback', ...(release === undefined ? [] : [release])].join(' '),
    direct: async (registry, agent) => {
      const { canary } = await registry.goBack(agent, to)
      return { canary: canary && shownCanary(canary) }
    },
    route: 'rollback',
    body: to === undefined ? {} : { release: to },
  })
  printOutcome(flags, outcome, (changed) => lineOf(changed, to !== undefined))
}

function lineOf({ agent: { agent, serving }, canary }: Changed, named: boolean): string {
  const back = `${visible(agent)} serves ${serving} again.`
  if (!canary) return `${pc.green('✓')} ${back}`
  if (named && canary.status === 'running') {
    return `${pc.green('✓')} ${back} The canary ${canary.id} goes on, as it tries other parameters: \`ratchet rollback\` ends it.`
  }
  if (named) return `${pc.green('✓')} ${back} The canary ${canary.id} ended.`
  return `${pc.green('✓')} The canary ${canary.id} of ${visible(agent)} was rolled back: everybody gets ${serving}.`
}
