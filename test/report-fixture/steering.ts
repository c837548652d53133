import type { Run } from '../../src/core/index.ts'
import type { LearnEvent } from '../../src/learn/index.ts'
import { rate } from './shape.ts'

/** The update whose batch showed a collapse. */
export const COLLAPSED = 14
/** Families of the training tasks. */
export const FAMILIES = 26
/** Passes of imitation. */
export const PASSES = 8

type Told<T extends LearnEvent['type']> = Extract<LearnEvent, { type: T }>

const diagnosisOf = (hostile: string | undefined): Told<'looked'>['diagnosis'] => ({
  attempts: 96,
  endings: { wrong: 48, success: 40, 'broken-call': 8 },
  message: hostile ?? 'Of 96 attempts 50 % end in a way that earns too little, 42 % succeed, 8 % break a later call.',
  hint: hostile ?? 'Show in the observations what the right act depends on, key before value.',
})

/** What the check found: a warning, and what stopped the run where that is why it failed. */
export function found(failure: Run['failure'], hostile: string | undefined): readonly Told<'found'>[] {
  const words = {
    message: hostile ?? '3 of 16 demonstrations end without an answer, the first: "task-7".',
    hint: hostile ?? 'Show each task to its end.',
  }
  const warning: Told<'found'> = {
    type: 'found',
    severity: 'warn',
    code: 'learn/unusual-end',
    ...words,
    n: 3,
    of: 16,
    example: null,
  }
  return failure?.code === 'learn/unknown-tool'
    ? [warning, { ...warning, severity: 'stop', code: failure.code, message: failure.message, n: 16 }]
    : [warning]
}

/** A look after every four passes. */
export function looked(pass: number, hostile: string | undefined): readonly Told<'looked'>[] {
  if (pass % 4 !== 0) return []
  return [{ type: 'looked', pass, success: 0.052 * pass, informative: 0.0625 * pass, diagnosis: diagnosisOf(hostile) }]
}

export const collapse: Told<'recovered'> = {
  type: 'recovered',
  update: COLLAPSED,
  rollouts: rate(6, 128),
  to: 12,
  scale: 0.25,
  recoveries: 1,
}

/** Families at the first update and every eighth: most rise, the last two never succeed. */
export function families(update: number, hostile: string | undefined): readonly Told<'families'>[] {
  if (update !== 1 && update % 8 !== 0) return []
  const told = Array.from({ length: FAMILIES }, (_, i) => {
    const dead = i >= FAMILIES - 2
    const known = update > 1 || i % 5 !== 0
    return {
      family: `which version of … supports … in wording ${i}${hostile === undefined ? '' : ` ${hostile}`}`,
      rate: known ? (dead ? 0 : Math.min(1, 0.1 + 0.02 * i + 0.025 * update)) : null,
      tasks: 40 + i,
      dead: dead && update > 1,
    }
  })
  return [{ type: 'families', update, families: told }]
}

export function stopped(update: number, hostile: string | undefined): Told<'stopped'> {
  const message = hostile ?? 'Success has not risen for 24 updates.'
  return { type: 'stopped', update, reason: 'still', message, diagnosis: diagnosisOf(hostile) }
}
