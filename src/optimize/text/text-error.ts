import { RatchetError } from '../../errors/index.ts'

/** A configuration under which a text cannot learn, or would learn what it must not. Thrown before a run begins. */
export class TextError extends RatchetError {}

/** @throws TextError (`text/bad-option`) unless the option is a whole number from `least` on. */
export function requireWhole(option: string, value: number, least: number): void {
  if (Number.isInteger(value) && value >= least) return
  throw new TextError({
    code: 'text/bad-option',
    message: `${option} is ${value}.`,
    hint: `Make ${option} a whole number, at least ${least}.`,
  })
}
