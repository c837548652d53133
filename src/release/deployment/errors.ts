import type { z } from 'zod'
import { RatchetError } from '../../errors/index.ts'

/** An agent cannot be deployed as it was asked for, or what one of its sessions did cannot be recorded. */
export class DeploymentError extends RatchetError {}

export const withoutModel = (agent: string, parameter: string): DeploymentError =>
  new DeploymentError({
    code: 'release/no-model',
    message: `The agent "${agent}" has the weights "${parameter}", and no model was given to answer with them.`,
    hint: 'Give `model`, the base that the agent declares; or `models`, by the name of each of its weights.',
  })

export const unreadableSession = (id: string, cause: z.ZodError): DeploymentError => {
  const [first] = cause.issues
  const where = first && first.path.length > 0 ? `"${first.path.map(String).join('.')}"` : 'something'
  return new DeploymentError({
    code: 'release/unreadable-session',
    message: `The session ${id} holds ${where} that no reader accepts (${first?.message ?? 'unknown'}); it is not recorded.`,
    hint: "Let the agent's program, its environment and its model give what their types say.",
    cause,
  })
}
