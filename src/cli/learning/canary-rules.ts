import { agentKey } from '../../core/index.ts'
import { InputError } from '../../errors/index.ts'
import type { ServeConfig } from '../../gateway/index.ts'
import { canaryGateFrom } from '../../learn/index.ts'
import type { CanaryRules } from '../../release/index.ts'

/** By which rules a gateway's configuration judges the canaries of an agent, by its key; `null` for one that does not learn. */
export function canaryRules({
  agents,
  tenant,
}: Pick<ServeConfig, 'agents' | 'tenant'>): (agent: string) => CanaryRules | null {
  const rules = new Map(
    agents.flatMap(({ name, tenant: own = tenant, learn }) =>
      learn ? [[agentKey(own, name), canaryGateFrom(learn)] as const] : [],
    ),
  )
  return (agent) => rules.get(agent) ?? null
}

/** Nothing says how canaries of an agent are judged. */
export function noCanaryRules(agent: string): InputError {
  return new InputError({
    code: 'input/no-canary-rules',
    message: `Nothing here says how canaries of "${agent}" are judged.`,
    hint: 'Give the agent a section "learn" in the configuration of its gateway: a gateway that runs has it, and --config names the file.',
  })
}
