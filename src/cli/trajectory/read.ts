import { readIn, type Trajectory } from '../../core/index.ts'
import { InputError } from '../../errors/index.ts'

/**
 * What the model read in one call, exactly: a message a line, as JSON; or as one JSON object, with the tokens where they were
 * recorded.
 * @param call counted from 1, in the order in which the calls were made.
 * @throws InputError where there is no such call.
 */
export function readText(trajectory: Trajectory, call: number, { json }: { readonly json?: boolean }): string {
  const step = trajectory.steps[call - 1]
  if (!step) {
    throw new InputError({
      code: 'input/no-such-call',
      message: `Trajectory ${trajectory.id} has ${trajectory.steps.length} calls; there is no call ${call}.`,
      hint: 'Name one of them, counted from 1, with: ratchet show ID --read 1',
    })
  }
  const read = readIn(trajectory, step)
  if (json) return `${JSON.stringify(read)}\n`
  return read.messages.map((message) => `${JSON.stringify(message)}\n`).join('')
}
