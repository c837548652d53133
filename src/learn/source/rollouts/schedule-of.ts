import { parseInput } from '../../../core/index.ts'
import { LearnError } from '../../errors.ts'
import type { RolloutOptions } from '../../options.ts'
import { Schedule } from './schedule.ts'

/**
 * Fills in a schedule's defaults.
 * @throws InputError when it is not one; LearnError when deterministic mode cannot hold it, or a control has nothing to
 * imitate.
 */
export function scheduleOf({
  schedule = {},
  deterministic = false,
  control = false,
  prime,
  budget,
  callSeconds,
  credit,
}: Pick<
  RolloutOptions,
  'schedule' | 'deterministic' | 'control' | 'prime' | 'budget' | 'callSeconds' | 'credit'
>): Schedule {
  if (control && !(prime && prime.demonstrations.length > 0)) {
    throw new LearnError({
      code: 'learn/control-without-demonstrations',
      message: 'A control imitates the demonstrations, and there are none.',
      hint: 'Give demonstrations, or leave the control out.',
    })
  }
  const full = parseInput(Schedule, { ...schedule, ...(prime ? {} : { primePasses: 0 }) }, 'the schedule')
  const clocked = {
    seconds: full.seconds !== undefined,
    goodEnough: full.goodEnough !== null,
    straggler: full.straggler !== undefined,
    'budget.seconds': budget?.seconds !== undefined,
    callSeconds: callSeconds !== undefined,
    control,
    ...(credit?.readsTimes && { [`credit (${credit.name})`]: true }),
  }
  const [first] = Object.entries(clocked).flatMap(([name, given]) => (given ? [name] : []))
  if (deterministic && first !== undefined) {
    throw new LearnError({
      code: 'learn/not-deterministic',
      message: `A deterministic run cannot depend on the clock, and ${first} does.`,
      hint: 'Leave it out: bound the run by updates, and train a control in a run that is not deterministic.',
    })
  }
  return full
}
