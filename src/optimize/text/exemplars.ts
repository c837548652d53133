import type { textKind } from '../../agent/index.ts'
import type { Optimizer } from '../../core/index.ts'
import { collectExemplars } from './collect-exemplars.ts'
import { requireConsent } from './consent.ts'
import type { ExemplarsOptions } from './exemplars-options.ts'
import { PractisedExemplars } from './practise-exemplars.ts'
import { showDialogue } from './shown.ts'
import { requireWhole } from './text-error.ts'

/**
 * Few-shot exemplars chosen from own successes, after the text that people wrote, which stays byte for byte. No model writes.
 *
 * In practice (DSPy's BootstrapFewShotWithRandomSearch, Khattab et al. 2024): episodes that went well at training tasks are
 * collected, and those at which none did are attempted again with the best text so far; sets of them are drawn by chance, or made
 * from the best one by changing one, and measured on validation tasks. A set replaces the best when the same tasks earn more.
 *
 * Over traffic nothing can be attempted: the best of the sessions that went well are proposed, and the gate or a canary judges.
 * @throws TextError for options out of range; when opened, for a budget below the floor, and over traffic without `sessions`.
 */
export function exemplars(options: ExemplarsOptions = {}): Optimizer<typeof textKind> {
  const { count = 4, evaluations = 400, measuredBy = 24, perUpdate = 2, success = 0.5, maxBytes = 16_384 } = options
  const { show = showDialogue, sessions } = options
  for (const [name, value] of Object.entries({ count, evaluations, measuredBy, perUpdate, maxBytes })) {
    requireWhole(name, value, 1)
  }
  const complete = { count, evaluations, measuredBy, perUpdate, success, maxBytes, show, sessions }
  return {
    name: 'exemplars',
    kind: 'text',
    async open(seat, saved) {
      requireConsent(seat.evaluate !== null, sessions, 'exemplars()')
      return seat.evaluate === null
        ? collectExemplars(seat, saved, complete)
        : new PractisedExemplars({ ...seat, evaluate: seat.evaluate }, saved, complete)
    },
  }
}
