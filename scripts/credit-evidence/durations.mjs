/**
 * Jobs that take very different times. Of four kinds of data each has one right preparation of three, and one best method of
 * five, which is slow: 15 or 40 minutes in the place of ½ to 2. The best method succeeds at 0.9, one of the fast ones at 0.5,
 * any other at 0.2, and all of them at a third of that after a wrong preparation. Times vary (lognormal, σ = 0.3).
 *
 * How jobs are waited for: `all`: 8 attempts at each kind, and all of them end; `half`, `quarter`: 8 begin, and those
 * that are not among the first 4 or 2 done are given up; `never`: 8 workers a kind begin anew as soon as they are done, and each 8 that are done are
 * learned from, though they began with an older policy.
 */
import { rng } from '../../dist/core/index.js'
import { durationAware, grpo } from '../../dist/credit/index.js'
import { episode, groupOf, scored } from './episode.mjs'

const KINDS = [0, 1, 2, 3]
const PREPARATIONS = [0, 1, 2]
const MINUTES = [0.5, 1, 2, 15, 40]
const PREPARING = 0.5
const WORKERS = 8

const best = (kind) => (kind % 2 === 0 ? 3 : 4)
const tempting = (kind) => kind % 3
const chanceOf = (kind, preparation, method) =>
  (method === best(kind) ? 0.9 : method === tempting(kind) ? 0.5 : 0.2) /
  (preparation === kind % PREPARATIONS.length ? 1 : 3)
const preparing = (kind) => PREPARATIONS.map((one) => ({ said: `prepare ${one}`, traits: [`prepare ${kind} ${one}`] }))
const training = (kind) => MINUTES.map((_, one) => ({ said: `train ${one}`, traits: [`train ${kind} ${one}`] }))

/** The chance of success, of all kinds alike: computed, not sampled. */
export function worth(policy) {
  let sum = 0
  for (const kind of KINDS) {
    const [prepared, trained] = [policy.chances(preparing(kind)), policy.chances(training(kind))]
    for (const p of PREPARATIONS) for (const m of MINUTES.keys()) sum += prepared[p] * trained[m] * chanceOf(kind, p, m)
  }
  return sum / KINDS.length
}

const gauss = (draw) => Math.sqrt(-2 * Math.log(1 - draw.next())) * Math.cos(2 * Math.PI * draw.next())

/** One job, with the minutes that it takes. */
function job(policy, kind, { id, draw }) {
  const choices = [preparing(kind), training(kind)].map((acts) => ({ acts, chosen: policy.choose(acts, draw) }))
  const [p, m] = choices.map(({ chosen }) => chosen)
  const minutes = [PREPARING, MINUTES[m]].map((usual) => usual * Math.exp(0.3 * gauss(draw)))
  const right = draw.next() < chanceOf(kind, p, m)
  const trajectory = episode({
    id,
    group: `kind-${kind}`,
    task: `kind-${kind}`,
    asked: `Data of kind ${kind}.`,
    turns: choices.map(({ acts, chosen }, i) => ({ by: 'engineer', said: acts[chosen].said, minutes: minutes[i] })),
    state: { right },
  })
  return { trajectory, reward: scored(Number(right)), choices, minutes: minutes[0] + minutes[1] }
}

/** Batches that are begun together: the first `used` of each kind that are done are learned from, and nobody waits for more. */
function together(used, seed) {
  const draw = rng('durations', seed)
  return (policy) => {
    let minutes = 0
    const groups = KINDS.map((kind) => {
      const jobs = Array.from({ length: WORKERS }, (_, a) => job(policy, kind, { id: `k${kind}-${a}`, draw }))
      const attempts = jobs.toSorted((a, b) => a.minutes - b.minutes).slice(0, used)
      minutes = Math.max(minutes, attempts.at(-1).minutes)
      return groupOf(`k${kind}`, attempts)
    })
    return { groups, costs: { minutes, attempts: KINDS.length * WORKERS } }
  }
}

/** Workers that wait for nobody. */
function apart(seed) {
  const draw = rng('durations', seed)
  const workers = KINDS.flatMap((kind) => Array.from({ length: WORKERS }, () => ({ kind, at: 0, job: null })))
  const done = KINDS.map(() => [])
  let [clock, begun] = [0, 0]
  return (policy) => {
    const before = clock
    for (;;) {
      for (const worker of workers) {
        if (worker.job !== null) continue
        worker.job = job(policy, worker.kind, { id: `j${begun++}`, draw })
        worker.at = clock + worker.job.minutes
      }
      const next = workers.reduce((first, worker) => (worker.at < first.at ? worker : first))
      clock = next.at
      done[next.kind].push(next.job)
      next.job = null
      if (done[next.kind].length === WORKERS) {
        const attempts = done[next.kind].splice(0)
        return { groups: [groupOf(`k${next.kind}`, attempts)], costs: { minutes: clock - before, attempts: WORKERS } }
      }
    }
  }
}

const waits = {
  all: (seed) => together(WORKERS, seed),
  half: (seed) => together(WORKERS / 2, seed),
  quarter: (seed) => together(WORKERS / 4, seed),
  never: apart,
}
const aware = durationAware({ outcome: grpo() })
export const durations = {
  name: 'durations',
  title: 'Attempts of different durations',
  costs: ['minutes', 'attempts'],
  begin: [],
  target: 0.7,
  worth,
  open: ({ wait }, seed) => waits[wait](seed),
  arms: [
    ['all', 'all are waited for'],
    ['half', 'the slow half is given up'],
    ['quarter', 'the slow three quarters are given up'],
    ['never', 'nobody waits'],
  ].flatMap(([wait, told]) => [
    { name: `GRPO, ${told}`, rule: grpo(), wait },
    { name: `duration-aware GRPO, ${told}`, rule: aware, wait, control: `GRPO, ${told}` },
  ]),
}
