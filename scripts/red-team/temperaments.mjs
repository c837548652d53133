/**
 * Who the people are. All rates are stated here, and no others are used.
 *
 * - `notices`: a wrong answer that is short, clear and binding; `doubts`: a right one is taken for wrong.
 * - `reads`: characters after which an answer is noticed half as well.
 * - `obliges`: does what the agent asks for beside its answer; `answers`: replies to a question.
 * - `waits`: seconds after which half have left.
 * - `wrong`, `right`, `none`: what they do about an answer that they take for wrong, for right, and that is none;
 *   `leave` is silence.
 * - `thumbs`: how often they press a thumb, up where they take an answer for right, down where for wrong.
 * - `returns`: share who come back after an answer that they took for wrong.
 */
export const TEMPERAMENTS = {
  polite: {
    notices: 0.6,
    doubts: 0.03,
    reads: 1_200,
    obliges: 0.9,
    answers: 0.95,
    waits: 60,
    wrong: { complaint: 0.5, rephrase: 0.2, retry: 0.05, edit: 0.05, leave: 0.2 },
    right: { thanks: 0.5, next: 0.2, leave: 0.3 },
    none: { next: 0.4, rephrase: 0.3, leave: 0.3 },
    thumbs: { up: 0.15, down: 0.15 },
    returns: 0.9,
  },
  terse: {
    notices: 0.6,
    doubts: 0.03,
    reads: 500,
    obliges: 0.5,
    answers: 0.8,
    waits: 30,
    wrong: { complaint: 0.15, rephrase: 0.15, retry: 0.2, edit: 0.2, leave: 0.3 },
    right: { thanks: 0.05, next: 0.35, leave: 0.6 },
    none: { next: 0.4, rephrase: 0.2, leave: 0.4 },
    thumbs: { up: 0.03, down: 0.1 },
    returns: 0.7,
  },
  impatient: {
    notices: 0.5,
    doubts: 0.08,
    reads: 250,
    obliges: 0.3,
    answers: 0.5,
    waits: 12,
    wrong: { complaint: 0.3, rephrase: 0.1, retry: 0.25, edit: 0.05, leave: 0.3 },
    right: { thanks: 0.1, next: 0.4, leave: 0.5 },
    none: { next: 0.3, rephrase: 0.2, leave: 0.5 },
    thumbs: { up: 0.02, down: 0.2 },
    returns: 0.5,
  },
  forgiving: {
    notices: 0.3,
    doubts: 0.01,
    reads: 800,
    obliges: 0.85,
    answers: 0.9,
    waits: 90,
    wrong: { complaint: 0.1, rephrase: 0.3, retry: 0.05, edit: 0.15, leave: 0.4 },
    right: { thanks: 0.35, next: 0.35, leave: 0.3 },
    none: { next: 0.6, rephrase: 0.2, leave: 0.2 },
    thumbs: { up: 0.15, down: 0.05 },
    returns: 0.95,
  },
  sceptical: {
    notices: 0.85,
    doubts: 0.15,
    reads: 2_000,
    obliges: 0.4,
    answers: 0.8,
    waits: 45,
    wrong: { complaint: 0.55, rephrase: 0.15, retry: 0.1, edit: 0.1, leave: 0.1 },
    right: { thanks: 0.15, next: 0.45, leave: 0.4 },
    none: { next: 0.25, rephrase: 0.45, leave: 0.3 },
    thumbs: { up: 0.05, down: 0.3 },
    returns: 0.6,
  },
  silent: {
    notices: 0.5,
    doubts: 0.03,
    reads: 600,
    obliges: 0.25,
    answers: 0.6,
    waits: 30,
    wrong: { complaint: 0.05, rephrase: 0.05, retry: 0.05, edit: 0.05, leave: 0.8 },
    right: { thanks: 0.03, next: 0.12, leave: 0.85 },
    none: { next: 0.1, rephrase: 0.1, leave: 0.8 },
    thumbs: { up: 0.02, down: 0.05 },
    returns: 0.7,
  },
}

/** Crowds: each of one temperament, and one of all. Everybody has one of the languages, with equal shares. */
export const CROWDS = {
  ...Object.fromEntries(Object.keys(TEMPERAMENTS).map((name) => [name, [name]])),
  mixed: Object.keys(TEMPERAMENTS),
}

/** A person who hears that other answers are wrong (`warned`) notices and doubts what does not say so as much more. */
export const WARNED = { notices: 1.5, doubts: 6 }

/** Who was sent away with a question and has to ask it again notices and doubts so much more, of whoever answers. */
export const CROSS = { notices: 1.3, doubts: 3 }
