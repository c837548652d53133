import type { textKind } from '../../agent/index.ts'
import type { Optimizer } from '../../core/index.ts'
import { Components } from './component.ts'
import { requireConsent } from './consent.ts'
import { Evolution } from './evolution.ts'
import type { ReflectOptions } from './reflect-options.ts'
import { reflectOnSessions } from './reflect-on-sessions.ts'
import { showDialogue } from './shown.ts'
import { requireWhole } from './text-error.ts'

/**
 * A text evolves by reflection (GEPA, Agrawal et al. 2025). A parent is drawn from the candidates on the Pareto front of the
 * measuring tasks; it attempts a few training tasks; a writer reads how that went and writes one part of it anew; that must
 * earn more on the same tasks, and then joins the candidates, measured on all. The candidate with the best mean is proposed.
 *
 * Over traffic nothing can be attempted: the writer reads the sessions of the batch once, and the gate or a canary judges what
 * it wrote.
 * @throws TextError for options out of range; when opened, for a budget below the floor, for locked parts that do not stand in
 * the text, and over traffic without `sessions`.
 */
export function reflect(options: ReflectOptions): Optimizer<typeof textKind> {
  const { evaluations = 400, minibatch = 4, measuredBy = 24, perUpdate = 1, success = 1, maxBytes = 16_384 } = options
  const { maxTokens = 4_096, locked = [], show = showDialogue, writer, feedback, sessions } = options
  const whole = { evaluations, minibatch, measuredBy, perUpdate, maxBytes, maxTokens }
  for (const [name, value] of Object.entries(whole)) requireWhole(name, value, 1)
  const complete = { ...whole, success, locked, show, writer, feedback, sessions }
  return {
    name: 'reflect',
    kind: 'text',
    async open(seat, saved) {
      requireConsent(seat.evaluate !== null, sessions, 'reflect()')
      const components = new Components(seat.value.text, locked)
      return seat.evaluate === null
        ? reflectOnSessions(seat, saved, { options: complete, components })
        : new Evolution({ ...seat, evaluate: seat.evaluate }, saved, { options: complete, components })
    },
  }
}
