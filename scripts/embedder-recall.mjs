/**
 * How well embedders find what was asked before in other words: 40 things asked twice, by hand. Each second wording looks for
 * its first among all 40.
 *
 *   npm run build && node scripts/embedder-recall.mjs [--embedder minilm]
 */
import { parseArgs } from 'node:util'
import { lexicalEmbedder } from '../dist/agent/index.js'
import { dot } from '../dist/core/index.js'
import { openSentenceEmbedder } from '../dist/model/index.js'

/** The first half keep a word or two of the matter, as people mostly do; the second half share none. */
const pairs = [
  ['How do I return a broken kettle?', 'The kettle I bought is broken, can I return it?'],
  ['Where is my parcel?', 'The parcel still has not come, where is it now?'],
  ['The invoice shows the wrong amount.', 'There is an error on my invoice: the amount is too high.'],
  ['When will I get my refund?', 'I am still waiting for the refund of last week.'],
  ['My account is locked.', 'I cannot sign in, it says that the account was locked.'],
  ['Can I change my delivery address?', 'Please change the address that the delivery goes to.'],
  ['The voucher has expired.', 'It says my voucher expired, can you renew it?'],
  ['How do I cancel my subscription?', 'I want to end the subscription, please cancel it.'],
  ['I was charged twice.', 'There are two charges for one order, I was charged double.'],
  ['The screen is cracked.', 'It came with a crack across the screen.'],
  ['The battery does not charge.', 'My battery stays empty, charging does nothing.'],
  ['How do I update the firmware?', 'Which steps update the firmware of the router?'],
  ['Please book a table for four.', 'A table for four people tonight, can you book it?'],
  ['The printer is jammed.', 'Paper jams in the printer again and again.'],
  ['I forgot my password.', 'How can I reset a password that I forgot?'],
  ['The ferry was delayed, who pays?', 'Do I get money for the delayed ferry?'],
  ['Does the tent leak in heavy rain?', 'Water leaks into the tent when it rains.'],
  ['I need a copy of my contract.', 'Can you send me the contract again, as a copy?'],
  ['How many days of holiday are left?', 'Tell me the holiday days that I have left.'],
  ['The course was cancelled.', 'You cancelled the course, and what now?'],
  ['The fridge is too noisy.', 'My refrigerator hums all night.'],
  ['I lost my card.', 'My bank plastic was stolen, block it.'],
  ['How do I get to the airport?', 'Which train brings me to my flight?'],
  ['The food was cold.', 'Our meal arrived lukewarm.'],
  ['Is there a discount for students?', 'Do you have cheaper prices for people at university?'],
  ['My luggage did not arrive.', 'The suitcase is not on the baggage belt.'],
  ['Can I bring my dog?', 'Are pets allowed in the room?'],
  ['The shirt is too small.', 'I need this blouse one size up.'],
  ['The internet is slow.', 'Pages take for ever to load at home.'],
  ['Who is the doctor on duty?', 'I need a physician now, at night.'],
  ['Please speak to my landlord.', 'The owner of the flat should be told.'],
  ['The heating does not work.', 'It is freezing here, the radiators stay cold.'],
  ['I want to quit my job.', 'How do I hand in my notice to the boss?'],
  ['How long is the warranty?', 'Until when is the guarantee valid?'],
  ['The car makes a strange sound.', 'There is a rattle when I drive.'],
  ['My package was damaged.', 'The box came crushed.'],
  ['Can I pay later?', 'Is it possible to settle the bill in instalments?'],
  ['What is the weather tomorrow?', 'Will it rain on the day after today?'],
  ['I need a haircut.', 'When has the barber time for me?'],
  ['Delete my data.', 'Erase everything that you keep about me.'],
]

async function measure(embedder) {
  const cues = await embedder.embed(pairs.map(([cue]) => cue))
  const asked = await embedder.embed(pairs.map(([, question]) => question))
  const began = performance.now()
  for (let i = 0; i < 3; i++) await embedder.embed(pairs.map(([cue]) => cue))
  const each = (performance.now() - began) / (3 * pairs.length)
  const ranks = asked.map((vector, right) => {
    const near = cues.map((cue, i) => ({ i, similarity: dot(vector, cue) })).sort((a, b) => b.similarity - a.similarity)
    const rank = near.findIndex(({ i }) => i === right)
    return {
      rank,
      above: (near[rank]?.similarity ?? 0) >= 0.35,
      wrong: near.filter(({ i, similarity }) => i !== right && similarity >= 0.35).length,
    }
  })
  const half = pairs.length / 2
  const share = (some, is) => `${some.filter(is).length}/${some.length}`
  const cells = [ranks.slice(0, half), ranks.slice(half)].flatMap((some) => [
    share(some, ({ rank }) => rank === 0),
    share(some, ({ rank }) => rank < 4),
    share(some, ({ rank, above }) => rank < 4 && above),
  ])
  const wrong = ranks.reduce((sum, one) => sum + one.wrong, 0) / ranks.length
  console.log(`| ${embedder.name} | ${cells.join(' | ')} | ${wrong.toFixed(2)} | ${each.toFixed(2)} ms |`)
}

const { values } = parseArgs({ options: { embedder: { type: 'string' } } })
console.log(
  '| embedder | shared words: first | in first 4 | and above 0.35 | no shared words: first | in first 4 | and above 0.35 | others above 0.35, each | a text |',
)
console.log('|---|---|---|---|---|---|---|---|---|')
await measure(lexicalEmbedder())
if (values.embedder) await measure(await openSentenceEmbedder({ model: values.embedder }))
