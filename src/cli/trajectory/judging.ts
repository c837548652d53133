import { readConfig } from '../read-config.ts'
import { gatewayConfig } from '../setup/gateway-config.ts'
import { type RewardOf, rewardOf } from './reward-now.ts'

/** What says by which rules episodes are judged. */
export interface JudgingFlags {
  /** The gateway's configuration. */
  readonly config?: string
}

/** Judges by the gateway's configuration, where there is one. */
export async function judging({ config }: JudgingFlags, now: number): Promise<RewardOf> {
  const file = gatewayConfig(config)
  if (file === undefined) return rewardOf(null, now)
  // The gateway takes half a second to load.
  const { ServeConfig } = await import('../../gateway/index.ts')
  return rewardOf(await readConfig(ServeConfig, file, 'docs/gateway.md'), now)
}
