/** Vectors and items on which the search of a memory is measured. */
import { lexicalEmbedder, newItem } from '../dist/agent/index.js'
import { rng, unit } from '../dist/core/index.js'

const gauss = (chance) => Math.sqrt(-2 * Math.log(1 - chance.next())) * Math.cos(2 * Math.PI * chance.next())
const noise = (chance, dimensions) => Float32Array.from({ length: dimensions }, () => gauss(chance))

/** Unit vectors around centres, as embeddings of like texts are; `spread` 0.9: cosines of neighbours about 0.55. */
export function clustered({ dimensions, count, queries, centres, spread, name }) {
  const chance = rng('bench', name)
  const middle = Array.from({ length: centres }, () => unit(noise(chance, dimensions)))
  const near = () => {
    const around = unit(noise(chance, dimensions))
    return unit(middle[chance.int(centres)].map((value, i) => value + spread * around[i]))
  }
  return { vectors: Array.from({ length: count }, near), asked: Array.from({ length: queries }, near) }
}

const subjects =
  'kettle parcel invoice refund coat manual fridge course charge poster voucher account wheel carpet screen battery tent ferry wine lease doorbell delivery printer booking lamp chair jacket router heater ticket'.split(
    ' ',
  )
const troubles =
  'broken lost wrong late torn missing noisy cancelled double faded expired locked bent stained cracked dead leaking delayed mislabelled unsigned silent spoiled jammed duplicate'.split(
    ' ',
  )
const verbs = 'replace return repair exchange refund send cancel inspect collect deliver explain renew'.split(' ')

/** What somebody asks of a shop, with the number of an order. */
export const sentenceOf = (chance) => {
  const of = (words) => words[chance.int(words.length)]
  return `Please ${of(verbs)} my ${of(troubles)} ${of(subjects)} and ${of(verbs)} the ${of(subjects)}, order ${chance.int(90_000)}`
}

/** Such sentences, as the default embedder has them. */
export async function sentences({ count, queries }) {
  const chance = rng('bench', 'sentences')
  const texts = Array.from({ length: count + queries }, () => sentenceOf(chance))
  const all = await lexicalEmbedder().embed(texts)
  return { texts: texts.slice(0, count), vectors: all.slice(0, count), asked: all.slice(count) }
}

/** An item of practice. */
export const practiceItem = (item) =>
  newItem({
    type: 'case',
    worked: true,
    derivedFrom: ['t'],
    owner: { tenant: null, about: null },
    trust: 1,
    from: 0,
    expires: null,
    utility: 0,
    ...item,
  })
