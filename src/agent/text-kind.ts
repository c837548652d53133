import { z } from 'zod'
import { type Kind, type TextCritique, TextValue } from '../core/index.ts'
import { critiques } from './critiques.ts'
import { TextParameter } from './text-parameter.ts'

const Value = TextValue.omit({ kind: true })

/** Texts: prompts, tool descriptions, playbooks. What was decided is the message of a Decision's output node. */
export const textKind: Kind<'text', z.infer<typeof Value>, null, TextParameter, TextCritique> = {
  kind: 'text',
  flat: true,
  value: Value,
  made: z.null(),
  handle: (bound, _, name) => new TextParameter(name, bound),
  deposit: (decided, trajectory) => critiques.deposit(trajectory, decided),
}
