import type { Alert } from './alert.ts'
import type { AlertRepository } from './repository.ts'

/** Puts an alert, unless one with its id was put before: what is found again is told once, as it was found first. */
export async function tellOnce(alerts: Pick<AlertRepository, 'get' | 'put'>, alert: Alert): Promise<void> {
  if ((await alerts.get(alert.id)) === null) await alerts.put(alert)
}
