import { z } from 'zod'
import { type Browser, browsers, compareVersions, isSupported, isVersion, type SupportTable } from './support.ts'

/** Kinds of question. `since` needs one document (tier `single-hop`), the others two or three (tier `composed`). */
export const QuestionKind = z.enum(['since', 'which-first', 'wherever', 'how-many'])
export type QuestionKind = z.infer<typeof QuestionKind>

/** A question about documents, before it is put into words. */
export const Question = z.strictObject({
  kind: QuestionKind,
  /** The browser asked about; `null` where the question is about all of them. */
  browser: z.enum(browsers).nullable(),
  /** The documents asked about, in the order of the question. */
  titles: z.array(z.string()).min(1).max(3),
})
export type Question = z.infer<typeof Question>

/** What one kind of question asks about, and how it is answered; its words are elsewhere. */
export interface QuestionForm {
  readonly documents: 1 | 2 | 3
  readonly asksBrowser: boolean
  /** Largest share of the tasks of one kind and browser that may have the same answer. */
  readonly maxAnswerShare: number
  /**
   * What of one document the answer depends on, or `null` when the document settles nothing: only versions and `never` do.
   * A document that reads like one listed beside it is never asked about.
   */
  reading(table: SupportTable, browser: Browser): string | null
  /** Whether documents that each settle something settle this question together. Default: always. */
  settled?(tables: readonly SupportTable[], browser: Browser): boolean
  /**
   * What a reader of these documents would answer, right or not: every accepted form, the preferred one first. Total, so
   * that it also says what a reader of wrong documents would answer.
   */
  answer(titles: readonly string[], tables: readonly SupportTable[], browser: Browser): readonly string[]
}

const oneBrowser = (table: SupportTable, browser: Browser) =>
  table[browser] === 'never' || isVersion(table[browser]) ? table[browser] : null

/** The four forms. Every answer but `yes` and `0` names versions or browsers, so that a guess is seldom right. */
export const questionForms: Readonly<Record<QuestionKind, QuestionForm>> = {
  since: {
    documents: 1,
    asksBrowser: true,
    maxAnswerShare: 0.08,
    reading: oneBrowser,
    answer: (_titles, [table], browser) => {
      const value = table?.[browser] ?? 'unknown'
      return [`${browser} ${value}`, value]
    },
  },
  'which-first': {
    documents: 2,
    asksBrowser: true,
    maxAnswerShare: 0.08,
    reading: (table, browser) => (isVersion(table[browser]) ? table[browser] : null),
    settled: (tables, browser) => new Set(tables.map((table) => table[browser])).size === tables.length,
    answer: (titles, tables, browser) => {
      const entries = tables.map((table, i) => ({ title: titles[i] ?? '', version: table[browser] }))
      const [first, second] = entries.sort((a, b) => compareArrival(a.version, b.version))
      return [`${first?.title} ${first?.version} ${second?.version}`]
    },
  },
  wherever: {
    documents: 2,
    asksBrowser: false,
    maxAnswerShare: 0.15,
    reading: (table) => {
      const values = browsers.map((browser) => oneBrowser(table, browser))
      return values.includes(null) ? null : values.map((value) => (value === 'never' ? '-' : '+')).join('')
    },
    settled: ([, b]) => browsers.some((browser) => isSupported(b?.[browser] ?? 'never')),
    answer: (_titles, [a, b]) => {
      const lacking = browsers.filter((browser) => isSupported(b?.[browser] ?? '') && !isSupported(a?.[browser] ?? ''))
      return [lacking.length === 0 ? 'yes' : `no ${lacking.join(' ')}`]
    },
  },
  'how-many': {
    documents: 3,
    asksBrowser: true,
    maxAnswerShare: 0.08,
    reading: oneBrowser,
    answer: (_titles, tables, browser) => {
      const versions = tables.map((table) => table[browser]).filter((value) => isSupported(value))
      return [[versions.length, ...versions].join(' ')]
    },
  },
}

/** What a reader of these documents would answer to `question`; see {@link QuestionForm.answer}. */
export function answerQuestion(
  { kind, browser, titles }: Question,
  tables: readonly SupportTable[],
): readonly string[] {
  return questionForms[kind].answer(titles, tables, browser ?? browsers[0])
}

/** The tier of a kind's tasks: `single-hop` where one document answers, `composed` where several do. */
export function tierOfKind(kind: QuestionKind): 'single-hop' | 'composed' {
  return questionForms[kind].documents === 1 ? 'single-hop' : 'composed'
}

/** Supported before not supported, then the lower version. */
function compareArrival(a: string, b: string): number {
  if (isVersion(a) && isVersion(b)) return compareVersions(a, b)
  return Number(isVersion(b)) - Number(isVersion(a))
}
