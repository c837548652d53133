import type { Run } from '../../core/index.ts'

/** Whether a run learns from traffic. */
export function fromTraffic({ config }: Pick<Run, 'config'>): boolean {
  return typeof config === 'object' && config !== null && 'source' in config && config.source === 'traffic'
}
