import { spark, type SparkPoint } from '../charts/spark.ts'
import { html } from '../html.ts'
import type { RunReport, StepMetrics } from '../run-report.ts'
import { notYet, type Part, section } from './section.ts'

/** What a healthy run shows, by the name of the metric, in the order in which a person looks. */
const charts: readonly { readonly metric: string; readonly title: string; readonly note: string }[] = [
  {
    metric: 'informativeGroups',
    title: 'Groups that differ',
    note: 'What the update learned from: attempts at one task with different rewards.',
  },
  { metric: 'loss', title: 'Policy loss', note: 'Near 0 by construction: it says little by itself.' },
  { metric: 'gradNorm', title: 'Gradient norm', note: 'Before clipping. Spikes mean unstable updates.' },
  { metric: 'kl', title: 'KL divergence', note: 'How far an update moved the policy, for each token.' },
  { metric: 'rate', title: 'Learning rate', note: 'Of the last step. It follows the signal and the KL divergence.' },
  { metric: 'deadFamilies', title: 'Dead families', note: 'Families of tasks on which nothing succeeds.' },
  { metric: 'uniformGroups', title: 'Uniform groups', note: 'All attempts alike: no signal.' },
  { metric: 'singletonGroups', title: 'Singleton groups', note: 'Fewer than two rewards: no signal.' },
  { metric: 'missing', title: 'Missing rewards', note: 'No act of the policy; never counted as 0.' },
  { metric: 'vetoed', title: 'Vetoed episodes', note: 'A guard says that they were gamed or broken.' },
  { metric: 'brokenCalls', title: 'Broken calls', note: 'Calls that could not be read.' },
]

/** Whether the updates themselves went well. */
export function health({ updates, priming }: RunReport): Part {
  const title = 'Training health'
  if (updates.length === 0 && priming.length === 0) {
    return notYet(title, 'There was no priming pass and no update.')
  }
  const ofUpdates = (metric: string) =>
    seriesOf(
      updates.map(({ update, metrics }) => ({ at: update, metrics })),
      metric,
    )
  const imitation = seriesOf(
    priming.map(({ pass, metrics }) => ({ at: pass, metrics })),
    'loss',
  )
  const drawn = charts.flatMap(({ metric, title, note }) => {
    const points = ofUpdates(metric)
    const idle = metric === 'singletonGroups' && points.every(({ value }) => value === 0)
    return points.length === 0 || idle ? [] : [spark(title, points, { unit: 'updates', note })]
  })
  const rewards = updates.map(({ update, reward }) => ({ at: update, value: reward }))
  return section(
    'health',
    title,
    'The bold figure is the last one.',
    html`<div class="sparks">
      ${imitation.length > 0 && spark('Priming loss', imitation, { unit: 'passes', note: 'Mean over the demonstrated tokens.' })}
      ${rewards.length > 0 && spark('Mean reward', rewards, { unit: 'updates', note: 'Of the rollouts, sampled.' })}
      ${drawn}
    </div>`,
  )
}

/** One metric over steps; empty when no step has it. */
function seriesOf(steps: readonly { at: number; metrics: StepMetrics }[], metric: string): readonly SparkPoint[] {
  return steps.flatMap(({ at, metrics }) => {
    const value = metrics[metric]
    return value === undefined ? [] : [{ at, value }]
  })
}
