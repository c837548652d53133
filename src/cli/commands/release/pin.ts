import pc from 'picocolors'
import { parseInput, ReleaseId, visible } from '../../../core/index.ts'
import { changeServing, type ChangeFlags } from './change-serving.ts'
import { printOutcome } from './print-outcome.ts'

/** `ratchet pin [RELEASE]`: holds what serves; a release that is named must be it. */
export async function pinCommand(
  release: string | undefined,
  flags: ChangeFlags & { readonly reason: string },
): Promise<void> {
  const named = release === undefined ? {} : { release: parseInput(ReleaseId, release, 'The release') }
  const { reason } = flags
  const outcome = await changeServing(flags, {
    command: ['ratchet pin', ...(release === undefined ? [] : [release])].join(' '),
    direct: async (registry, agent) => {
      await registry.pin(agent, reason, named)
      return {}
    },
    route: 'pin',
    body: { reason, ...named },
  })
  printOutcome(flags, outcome, ({ agent: { agent, serving, canary } }) => {
    const beside = canary ? ` The canary ${canary.id} keeps its share and can only roll back.` : ''
    return `${pc.green('✓')} ${visible(agent)} is pinned to ${serving}: no gate changes what serves until \`ratchet unpin\`.${beside}`
  })
}

/** `ratchet unpin`: lets go of what serves. */
export async function unpinCommand(flags: ChangeFlags): Promise<void> {
  const outcome = await changeServing(flags, {
    command: 'ratchet unpin',
    direct: async (registry, agent) => ({ pinned: (await registry.unpin(agent)) !== null }),
    route: 'unpin',
    body: {},
  })
  printOutcome(flags, outcome, ({ agent: { agent }, pinned }) =>
    pinned ? `${pc.green('✓')} ${visible(agent)} is no longer pinned.` : `${visible(agent)} was not pinned.`,
  )
}
