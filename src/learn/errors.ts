import { RatchetError } from '../errors/index.ts'

/** A learning run was configured, or resumed, in a way that cannot work. */
export class LearnError extends RatchetError {}

/** Another process has taken this one's place as the learner of an agent: what it was at is the other's now. */
export class LostLeaseError extends LearnError {
  constructor(name: string) {
    super({
      code: 'learn/lost-lease',
      message: `Another process holds the lease "${name}" now.`,
      hint: 'Do nothing: the other process continues from the last checkpoint.',
    })
  }
}

/** Imitation ended without a policy that practice could improve. */
export const cannotPrime = (passes: number, { message, hint }: { readonly message: string; readonly hint: string }) =>
  new LearnError({
    code: 'learn/cannot-prime',
    message: `After ${passes} passes over the demonstrations hardly an attempt succeeds. ${message}`,
    hint,
  })

/** Practice brought nothing beyond imitation. */
export const nothingLearned = ({ message, hint }: { readonly message: string; readonly hint: string }) =>
  new LearnError({
    code: 'learn/nothing-learned',
    message: `Stopped: practice brought nothing beyond imitation. ${message}`,
    hint,
  })

/** A check before training found that the job cannot be learned as it is. */
export const cannotLearn = ({ code, message, hint }: { code: string; message: string; hint: string }) =>
  new LearnError({ code, message, hint })
