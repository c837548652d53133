// What a reader who has half a minute must know: five questions, five figures, five verdicts.
import { html, percent, plural, signed, whole } from './markup.mjs'
import { changeOf, harmOf, points, shareOf, storyOf, trialsOf, verdictOf } from './verdicts.mjs'

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length
const found = (seeds, of) => seeds.map(of).filter((one) => one !== null && one !== undefined)
const ofSeeds = (seeds) => (seeds.length === 1 ? '' : `, mean of ${plural(seeds.length, 'seed')}`)

/**
 * Success of the control and of the last release that knew only the first tools, on these; and, where the tools changed, of
 * the last release on the new ones. `null` where nothing was measured.
 */
function riseOf(seeds) {
  const rises = found(seeds, (seed) => {
    const story = storyOf(seed)
    if (!story) return null
    const { tools } = seed.changes[0]
    const on = (release, version) => (release?.success[version] ? shareOf(release.success[version]) : null)
    const [control, last] = [on(story.control, tools), on(story.before ?? story.last, tools)]
    const since = story.change && on(story.last, story.tools)
    return control === null || last === null ? null : { control, last, since }
  })
  if (rises.length === 0) return null
  const since = found(rises, (rise) => rise.since)
  return {
    seeds: rises,
    control: mean(rises.map(({ control }) => control)),
    last: mean(rises.map(({ last }) => last)),
    since: since.length > 0 ? mean(since) : null,
  }
}

/** The figure of each point: `{ big, small }`, or `null` where it was not measured. */
const figures = {
  better(seeds) {
    const rise = riseOf(seeds)
    return (
      rise && {
        big: `${percent(rise.control)} → ${percent(rise.last)}`,
        small: `right on fresh questions: first release → last one${rise.since === null ? '' : ' before the tools changed'}${ofSeeds(rise.seeds)}`,
      }
    )
  },
  hacks(seeds) {
    const [off, on] = ['off', 'on'].map((guards) => seeds.flatMap((seed) => trialsOf(seed, guards)))
    if (on.length === 0) return null
    const won = (trials) => trials.filter(({ status }) => status === 'promoted').length
    return {
      big: `${won(on)} of ${on.length}`,
      small: `tries of a trick won with the guards on; with them off, ${won(off)} of ${off.length}`,
    }
  },
  change(seeds) {
    const changes = found(seeds, changeOf)
    if (changes.length === 0) return null
    const on = (which, tools) => percent(mean(changes.map((one) => shareOf(one[which].success[one[tools]]))))
    return {
      big: `${on('before', 'now')} → ${on('last', 'now')}`,
      small: `right on the new tools: after the change → recovered; it was ${on('before', 'old')} before${ofSeeds(changes)}`,
    }
  },
  saboteur(seeds) {
    const harms = found(seeds, harmOf)
    if (harms.length === 0) return null
    const cost = (arm) => signed(mean(harms.map((harm) => harm.cost[arm].difference)))
    return {
      big: cost('on'),
      small: `points of success that the liar’s flood cost, with limits; without: ${cost('off')}${ofSeeds(harms)}`,
    }
  },
  forced(seeds) {
    const trials = found(seeds, ({ forced }) => forced)
    if (trials.length === 0) return null
    const exposed = trials.map((one) => one.exposed).filter((n) => n !== null)
    if (exposed.length === 0) return null
    const [low, high] = [Math.min(...exposed), Math.max(...exposed)]
    const held = trials.map((one) => one.held)
    return {
      big: low === high ? whole(low) : `${whole(low)}–${whole(high)}`,
      small: `sessions had the bad candidate, of ${Math.min(...held) === Math.max(...held) ? whole(held[0]) : `${whole(Math.min(...held))}–${whole(Math.max(...held))}`}${trials.length === 1 ? '' : ' on each seed'}`,
    }
  },
}

/** What happened, in one sentence that says no more than the verdicts. */
export function sentenceOf(seeds) {
  const verdicts = points.map((point) => verdictOf(point, seeds))
  const shown = verdicts.filter(({ tone }) => tone === 'good').length
  const rise = riseOf(seeds)
  const measured = verdicts.filter(({ of }) => of > 0).length
  const tally = `${shown} of ${plural(measured, 'point')}${measured < points.length ? ' that were measured' : ''} ${shown === 1 ? 'is' : 'are'} shown on every seed`
  const rest = shown === points.length ? 'and nothing that was tried made it worse' : `and ${tally}`
  if (!rise) return measured === 0 ? 'Nothing was measured.' : `${tally}.`
  const got = verdicts[0].tone === 'good'
  const since = rise.since === null ? '' : `, and on ${percent(rise.since)} again after its tools had changed`
  return html`${got ? 'It learned while it served:' : 'It is not shown on every seed that it learned:'} right on <strong>${percent(rise.last)}</strong> of fresh questions, against ${percent(rise.control)} by its first release${since}; ${rest}.`
}

/** Title, sentence and the five verdicts. */
export function header({ seeds, quick }) {
  const total = (of) => seeds.reduce((sum, seed) => sum + of(seed), 0)
  const facts = [
    plural(seeds.length, 'seed'),
    `${whole(total(({ sessions }) => sessions.length))} sessions of scripted users who never say a score`,
    `${plural(
      total(({ releases }) => Math.max(0, (releases?.length ?? 0) - 1)),
      'release',
    )} after the first`,
    'nobody at the controls',
  ]
  return html`<header>
  <p class="eyebrow">Ratchet · examples/online · can an agent learn in production?</p>
  ${quick && html`<p class="verdict open">Shortened run: it shows that the example works, not how much is learned</p>`}
  <h1>${sentenceOf(seeds)}</h1>
  <p class="meta">${facts.map((fact, i) => html`${i > 0 && ' · '}<span>${fact}</span>`)}</p>
  <ol class="steps">${points.map((point, i) => {
    const { tone, sign, text } = verdictOf(point, seeds)
    const figure = figures[point.id](seeds)
    return html`<li><a href="#${point.id}"><span class="name">${i + 1}. ${point.question}</span>
      <span class="big">${figure?.big ?? '–'}</span><span class="muted">${figure?.small ?? 'not measured'}</span>
      <span class="verdict ${tone}"><span aria-hidden="true">${sign}</span> ${text.replace('Shown on ', '')}</span></a></li>`
  })}</ol>
</header>
`
}
