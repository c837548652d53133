import type { textKind } from '../../agent/index.ts'
import type { Optimizer } from '../../core/index.ts'
import { requireConsent } from './consent.ts'
import { KeptPlaybook } from './kept-playbook.ts'
import type { PlaybookOptions } from './playbook-options.ts'
import { showDialogue } from './shown.ts'
import { requireWhole } from './text-error.ts'

/**
 * A playbook grows after the text that people wrote, which stays byte for byte (ACE, Zhang et al. 2025). A writer reads episodes
 * and says what to add, edit or remove, and which bullets helped or harmed; fixed rules merge that, within a hard cap. Nothing is
 * ever rewritten as a whole.
 *
 * In practice a changed playbook must earn no less on the measuring tasks than the one before. Over traffic nothing can be
 * attempted: one delta is written from the sessions of the batch, and the gate or a canary judges.
 * @throws TextError for options out of range; when opened, for a budget below the floor, and over traffic without `sessions`.
 */
export function playbook(options: PlaybookOptions): Optimizer<typeof textKind> {
  const { evaluations = 400, minibatch = 4, measuredBy = 24, perUpdate = 1, success = 1, maxBytes = 16_384 } = options
  const {
    maxTokens = 2_048,
    bullets = 40,
    bulletBytes = 400,
    show = showDialogue,
    writer,
    feedback,
    sessions,
  } = options
  const whole = { evaluations, minibatch, measuredBy, perUpdate, maxBytes, maxTokens, bullets, bulletBytes }
  for (const [name, value] of Object.entries(whole)) requireWhole(name, value, 1)
  const complete = { ...whole, success, show, writer, feedback, sessions }
  return {
    name: 'playbook',
    kind: 'text',
    async open(seat, saved) {
      requireConsent(seat.evaluate !== null, sessions, 'playbook()')
      return new KeptPlaybook(seat, saved, complete)
    },
  }
}
