import { type Content, type Html, html } from '../html.ts'

/** A part of the page: shown, or not there yet for a reason. */
export type Part =
  | { readonly shown: true; readonly markup: Html }
  | { readonly shown: false; readonly title: string; readonly why: Content }

/** A titled part, with a line or two that say how to read it. */
export function section(id: string, title: string, lead: Content, body: Content): Part {
  const markup = html`<section id="${id}" aria-labelledby="${id}-title">
  <h2 id="${id}-title">${title}</h2>
  ${lead !== null && html`<p class="lead">${lead}</p>`}
  ${body}
</section>
`
  return { shown: true, markup }
}

/** A part that has nothing to show yet, and why. */
export const notYet = (title: string, why: Content): Part => ({ shown: false, title, why })

/** The parts that have something to show, then, in one place, what the others wait for. */
export function assemble(parts: readonly Part[]): readonly Html[] {
  const waiting = parts.filter((part) => !part.shown)
  const rest = html`<section id="not-yet" aria-labelledby="not-yet-title">
  <h2 id="not-yet-title">Not there yet</h2>
  <dl class="waiting">${waiting.map(({ title, why }) => html`<div><dt>${title}</dt><dd>${why}</dd></div>`)}</dl>
</section>
`
  return [...parts.flatMap((part) => (part.shown ? [part.markup] : [])), ...(waiting.length > 0 ? [rest] : [])]
}
