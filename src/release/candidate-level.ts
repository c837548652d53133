import { type Canary, LifetimeAlpha, type Repositories } from '../core/index.ts'
import { claimLevel } from '../gate/index.ts'

type Rules = Pick<Canary['gate'], 'config'>

/**
 * Under what a canary's candidate has its level: one that a run tested on held-out tasks before has the level of that run,
 * for its promotion takes both tests.
 */
export function levelKeyOf({ id, run, admission }: Pick<Canary, 'id' | 'run' | 'admission'>): string {
  return run !== null && admission !== null ? run : id
}

/** The rules of a canary that begins, with the level of its candidate where they bound what an agent's life may spend. */
export async function withLevel<R extends Rules>(
  { levels }: Pick<Repositories, 'levels'>,
  canary: Pick<Canary, 'id' | 'agent' | 'run' | 'admission'>,
  { config, ...rules }: R,
  at: number,
): Promise<Omit<R, 'config'> & Rules> {
  const { lifetime = null, alpha } = config
  const { data } = LifetimeAlpha.safeParse(lifetime)
  if (data === undefined || typeof alpha !== 'number') return { ...rules, config: { ...config } }
  const claim = { agent: canary.agent, key: levelKeyOf(canary), lifetime: data, at }
  const { candidate, promotions, alpha: part } = await claimLevel(levels, claim)
  return { ...rules, config: { ...config, level: { candidate, promotions, alpha: Math.min(alpha, part) } } }
}
