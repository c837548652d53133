import { type Alert, AlertId, contentHash } from '../../../core/index.ts'
import type { TrafficRun } from './traffic-run.ts'

/** An alert of a run over traffic. @param about what tells it from others of the run: the same is the same alert. */
export const runAlert = (
  { run, key }: Pick<TrafficRun, 'run' | 'key'>,
  about: readonly string[],
  told: Pick<Alert, 'kind' | 'name' | 'message' | 'evidence' | 'at'>,
): Alert => ({ ...told, id: AlertId.parse(contentHash([run.id, ...about]).slice(0, 24)), agent: key, run: run.id })
