import type { LearnableTask } from '../../core/index.ts'
import { type Attempt, attempt, earned, environmentError, type Proving, solved, untilTimeIsUp } from './attempt.ts'
import { acts, type WrittenDemonstration, type ShownTurn, sayingOf, turnsOf } from './written-demonstration.ts'
import { counted, type Finding, quoted, spread } from './finding.ts'
import { type Replayed, replayer } from './replay.ts'
import { noEvidence, rubricErrors } from './rubric-findings.ts'

/** Episodes of each sort, at most. */
const most = { idle: 16, wrong: 8, right: 8 }
/** A share of successes from which a reward counts as given for nothing. */
const nearlyAll = 0.9
/** Fewer episodes than this, and success in all of them may be luck. */
const enough = 3

/** What is done where nothing sensible is known to be wrong. */
const meaningless: ShownTurn = {
  message: { role: 'assistant', content: '-' },
  action: { kind: 'message', content: '-' },
  at: 0,
  observations: [],
}

/** An episode with the task that it was played in. */
interface Trial {
  readonly task: LearnableTask
  readonly attempt: Attempt
}

/**
 * Tries out whether the reward can tell good from bad: on episodes that are closed without an act (at most 16), on acts
 * that belong to another task (8), and on those that belong to the task (8). Acts come from the demonstrations; without
 * any, a word that says nothing stands for the wrong ones.
 * @throws the signal's reason when it aborts.
 */
export async function verifierFindings({
  tasks,
  demonstrations = [],
  ...proving
}: Proving & {
  readonly tasks: readonly LearnableTask[]
  readonly demonstrations?: readonly WrittenDemonstration[]
}): Promise<readonly Finding[]> {
  const play = async (task: LearnableTask, turns: readonly ShownTurn[]): Promise<Trial> => ({
    task,
    attempt: await attempt(proving, task, turns),
  })
  const idle = await untilTimeIsUp(proving, spread(tasks, most.idle), (task) => play(task, []))
  const replays = await replaysOf(proving, tasks, demonstrations)
  const wrong = await untilTimeIsUp(proving, wrongActs(replays, tasks), ({ task, turns }) => play(task, turns))

  const doneNothing = idle.filter(sound)
  const doneWrong = wrong.filter(sound)
  const trials = [...doneNothing, ...doneWrong].map((trial) => trial.attempt)
  const right = replays.filter(sound).map((trial) => trial.attempt)
  const given = [...forNothing(proving, doneNothing), ...forWrongActs(proving, doneWrong)]
  return [
    ...rubricErrors(trials, 'trial episode'),
    ...noEvidence([...trials, ...right], right.length > 0 ? 'stop' : 'warn'),
    ...given,
    ...(given.length > 0 ? [] : alwaysTheSame(proving, trials, right)),
  ]
}

const sound = (trial: Pick<Trial, 'attempt'>): boolean => environmentError(trial.attempt) === null

async function replaysOf(
  proving: Proving,
  tasks: readonly LearnableTask[],
  demonstrations: readonly WrittenDemonstration[],
): Promise<readonly Replayed[]> {
  const numbered = demonstrations.map((one, i) => ({ ...one, number: i + 1 }))
  const active = numbered.filter(({ messages }) => turnsOf(messages).some(acts))
  const looked = await untilTimeIsUp(proving, spread(active, most.right), replayer(proving, tasks))
  return looked.filter((one) => one !== null)
}

/** Each replayed task with the acts of another one, which end in another act than its own. */
function wrongActs(
  replays: readonly Replayed[],
  tasks: readonly LearnableTask[],
): readonly Pick<Replayed, 'task' | 'turns'>[] {
  const lastAct = ({ turns }: Replayed) => turns.at(-1)?.message
  const saying = (one: Replayed) => sayingOf(lastAct(one) ?? meaningless.message)
  const crossed = replays.flatMap((own, i) => {
    const others = [...replays.slice(i + 1), ...replays.slice(0, i)]
    const other = others.find((one) => one.task.id !== own.task.id && saying(one) !== saying(own))
    return other === undefined ? [] : [{ task: own.task, turns: other.turns }]
  })
  if (crossed.length > 0) return crossed
  return spread(tasks, most.wrong).map((task) => ({ task, turns: [meaningless] }))
}

function forNothing(proving: Proving, trials: readonly Trial[]): readonly Finding[] {
  const judged = trials.filter((trial) => solved(trial.attempt, proving) !== null)
  const paid = judged.filter((trial) => solved(trial.attempt, proving) === true)
  const [first] = paid
  if (first === undefined) return []
  const all = paid.length >= nearlyAll * judged.length
  const example = `the task ${quoted(first.task.instruction)}`
  const succeed = counted(paid.length, judged.length, 'episode', ['succeeds', 'succeed'])
  return [
    {
      severity: all ? 'stop' : 'warn',
      code: 'learn/reward-for-nothing',
      message: `The reward is earned by doing nothing: ${succeed} when closed at once, without an act. For example, ${example}.`,
      hint: all
        ? 'Mend the verifier: it says yes before anything was done.'
        : 'Leave these tasks out, or let the verifier ask for what has to be done in them.',
      n: paid.length,
      of: judged.length,
      example,
    },
  ]
}

function forWrongActs(proving: Proving, trials: readonly Trial[]): readonly Finding[] {
  const judged = trials.filter((trial) => solved(trial.attempt, proving) !== null)
  const paid = judged.filter((trial) => solved(trial.attempt, proving) === true)
  const [first] = paid
  if (first === undefined || paid.length < nearlyAll * judged.length) return []
  const example = `the task ${quoted(first.task.instruction)}`
  const succeed = counted(paid.length, judged.length, 'episode', ['succeeds', 'succeed'])
  return [
    {
      severity: judged.length < enough ? 'warn' : 'stop',
      code: 'learn/reward-for-wrong-acts',
      message: `The reward is earned by wrong acts: ${succeed} with acts that do not belong to the task. For example, ${example}.`,
      hint: 'Fix the verifier: it scores right and wrong alike.',
      n: paid.length,
      of: judged.length,
      example,
    },
  ]
}

/** One value for everything. The lowest one is no proof against the verifier: the demonstrations may be wrong. */
function alwaysTheSame({ reward }: Proving, trials: readonly Attempt[], right: readonly Attempt[]): readonly Finding[] {
  const values = [trials, right].map((attempts) => attempts.flatMap((one) => earned(one) ?? []))
  const all = values.flat()
  const [value] = all
  if (value === undefined || values.some(({ length }) => length < 2) || all.some((one) => one !== value)) return []
  return [
    {
      severity: value === reward.floor ? 'warn' : 'stop',
      code: 'learn/constant-reward',
      message: `The reward is ${value} whatever is done: with the demonstrated acts, with wrong ones and with none, in ${all.length} of ${all.length} episodes.`,
      hint: 'See that the verifier reads what the acts change: from one value for everything nothing is learned.',
      n: all.length,
      of: all.length,
      example: null,
    },
  ]
}
