import type { Grammar } from '../../../core/index.ts'
import { jsonSchema } from './json-schema.ts'
import { either, literal, Rules } from './rules.ts'
import { UnusableGrammarError } from './unusable-grammar-error.ts'

/** Larger grammars are not read. */
const mostCharacters = 64 * 1024

/**
 * A grammar in the extended Backus–Naur form that xgrammar compiles.
 * @throws UnusableGrammarError when it is too large, or says what cannot be held.
 */
export function ebnfOf(grammar: Grammar): string {
  const { length } = JSON.stringify(grammar)
  if (length > mostCharacters)
    throw new UnusableGrammarError(
      `it has ${length} characters of JSON, and ${mostCharacters} are the most.`,
      'Ask for a simpler form: fewer properties, shorter lists of values.',
    )
  const rules = new Rules()
  return rules.text(expressionOf(rules, grammar))
}

function expressionOf(rules: Rules, grammar: Grammar): string {
  switch (grammar.kind) {
    case 'text':
      return literal(grammar.text)
    case 'json':
      return rules.add(jsonSchema(rules, grammar.schema))
    case 'sequence':
      return rules.add(['""', ...grammar.of.map((part) => expressionOf(rules, part))].join(' '))
    case 'several': {
      const one = expressionOf(rules, grammar.of)
      return rules.add(`${one} (${literal(grammar.between)} ${one})*`)
    }
    case 'or':
      if (grammar.of.length === 0) throw new UnusableGrammarError('it accepts nothing.', 'Allow something.')
      return rules.add(either(grammar.of.map((part) => expressionOf(rules, part))))
  }
}
