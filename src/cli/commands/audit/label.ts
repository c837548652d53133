import pc from 'picocolors'
import { InputError } from '../../../errors/index.ts'
import { said } from '../../trajectory/said.ts'
import { type AuditFlags, AuditGateway } from './audit-gateway.ts'

interface LabelFlags extends AuditFlags {
  readonly note?: string
}

/** `ratchet audit label DRAW TRUTH`: says whether a session that was drawn went right; the last word counts. */
export async function auditLabelCommand(draw: string, truth: string, flags: LabelFlags): Promise<void> {
  const told = truthOf(truth)
  const outcome = await (await AuditGateway.of(flags)).label(draw, told, flags.note)
  if (flags.json) process.stdout.write(`${JSON.stringify({ draw, truth: told, outcome })}\n`)
  else process.stdout.write(`${pc.green('✓')} ${said(draw, 64)}: ${told ?? 'it cannot be told'} (${outcome})\n`)
}

const words: Readonly<Record<string, number | null>> = {
  right: 1,
  true: 1,
  wrong: 0,
  false: 0,
  unknown: null,
}

/** @throws InputError for what is no truth. */
export function truthOf(text: string): number | null {
  if (Object.hasOwn(words, text)) return words[text] ?? null
  const truth = text.trim() === '' ? Number.NaN : Number(text)
  if (truth >= 0 && truth <= 1) return truth
  throw new InputError({
    code: 'input/no-truth',
    message: `"${said(text, 60)}" does not say how true it is.`,
    hint: 'Say right, wrong, a number from 0 to 1, or unknown where it cannot be told.',
  })
}
