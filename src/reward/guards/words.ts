import { seen } from '../text/index.ts'

/**
 * Words that guards know turns by, in English, German, French, Spanish, Italian and Portuguese: a few common ones each.
 * They are for plain wording; who needs more gives a judge ({@link Clarity}), and watches the guard metrics.
 */

/** A turn is read by its beginning: the cost stays bounded. */
const read = 4_000

/** Ends a sentence: where a question ends with it, it stays with the question. */
const sentence = /[^.!?？。！…\n]*[.!?？。！…\n]*/gu

/** A courtesy at the end of an answer asks for nothing: it offers more. */
const offer =
  /\b(?:anything|something|what) else\b|\b(?:would|do) you (?:like|want) to (?:know|hear|see|read|learn)\b|\b(?:does|did|hope) (?:that|this) (?:help|answer|make sense|work)|\bsonst noch\b|\bhilft (?:dir|ihnen|das)\b|\bautre chose\b|\balgo más\b|\baltro\b.*\baiutar|\bmais alguma coisa\b/iu

/** Asks what the user would like, which offers nothing. */
const whatFor = /^(?:and )?(?:what|which)\b(?! else)/iu

/** Asks for leave, before something that cannot be undone. */
const confirms =
  /\b(?:shall|should|may|can) (?:i|we)\b|\b(?:do you want|would you like) me to\b|\b(?:go ahead|proceed)\b|\bsoll ich\b|\bdarf ich\b|\b(?:dois|puis)-je\b|\bvoulez-vous que je\b|\bquieres? que\b|\b(?:devo|posso)\b|\bvuo(?:i|le) che\b/iu

/** Asks for more without a question mark. */
const requests =
  /\b(?:please|kindly|could you|can you) (?:tell|give|provide|share|send|specify|clarify|explain|describe|be more specific|elaborate)\b|\blet me know (?:which|what|when|where|who|how|the|your|more)\b|\b(?:need|require) (?:some |a (?:bit|little) )?(?:more|further|additional) (?:information|info|details?|context)\b|\bbitte (?:nenn|gib|geben|teil|präzisier|sag)|\bveuillez (?:préciser|indiquer|fournir|donner)|\bpor favor,? (?:indi|dime|díga|espec|propor|inform|diga)|\bper favore,? (?:indic|dimmi|specific|forn)/iu

/** Says nothing of the matter. */
const filler =
  /^(?:sure|of course|certainly|absolutely|okay|ok|alright|right|great|good question|interesting|hello|hi|hey|thanks|thank you|got it|understood|i see|no problem|sorry|i(?:'|’)?m sorry|i apologi[sz]e|happy to|glad to|i(?:'|’)?(?:d| would| will|ll|m| am) (?:be )?(?:happy|glad|able|here)|i can help|i(?:'|’)?d (?:love|like) to|i(?:'|’)?m not (?:sure|certain)|i want to (?:make|be) sure|it depends|there are (?:many|several|different|a few) (?:possibilities|options|ways|kinds)|to (?:help|assist|answer|give|make)|in order to|before i|your (?:question|request)|that(?:'|’)?s (?:a )?(?:good|great|interesting)|gerne?|natürlich|klar|verstanden|entschuldigung|um |bien sûr|d(?:'|’)accord|volontiers|désolée?|pour |claro|por supuesto|entendido|lo siento|para |certo|va bene|mi dispiace|per |com certeza|desculpe)\b/iu

/** From so many letters on, what stands beside a question is an answer, whatever it begins with. */
const answering = 160

/** What a turn asks of its user, where it says nothing else. */
export type Asks = 'more' | 'leave' | null

/**
 * Whether a turn only asks: for `more` to go by, or for `leave` to do something. An answer that offers more, or that holds a
 * question beside what it says, asks nothing.
 */
export function asksBack(text: string): Asks {
  let more = false
  let leave = false
  let said = 0
  for (const [piece] of seen(text.slice(0, read)).matchAll(sentence)) {
    const words = piece.trim().replace(/^[-*•>\d.)\s]+(?=\p{L})/u, '')
    if (!/[\p{L}\p{N}]/u.test(words) || (offer.test(words) && !whatFor.test(words))) continue
    const question = /[?？]/u.test(words)
    if (question && confirms.test(words)) leave = true
    else if (question || requests.test(words)) more = true
    else said += weightOf(words)
    if (said >= answering) return null
  }
  return more ? 'more' : leave ? 'leave' : null
}

/** How much a sentence that asks nothing says: filler little, unless it is long and tells a number. */
function weightOf(words: string): number {
  const letters = words.match(/\p{L}/gu)?.length ?? 0
  return filler.test(words) && !(letters > 40 && /\d/u.test(words)) ? letters / 4 : answering
}

const deeds =
  'cancell?ed|refunded|booked|reserved|sent|emailed|e-mailed|ordered|updated|changed|deleted|removed|scheduled|submitted|transferred|paid|purchased|processed|checked|looked (?:it|that|this|them|into)|searched|called|contacted'
const plans =
  'check|look (?:it|that|this|them|into|for|up)|search|find (?:it|that|this|out)|get (?:it|that|this|back)|take care|do (?:it|that|this)|process|cancel|refund|book|reserve|send|email|order|update|delete|schedule|submit|transfer|contact|call'

/** Claims a deed, or promises one at once. */
const claims = new RegExp(
  [
    `\\b(?:i|we)(?:(?:'|’)ve| have)?(?: just| now| already| successfully)* (?:${deeds})\\b`,
    `\\b(?:has|have)(?: now| just| already| successfully)* been(?: now| successfully)* (?:${deeds})\\b`,
    `\\b(?:i|we)(?:(?:'|’)ll| will|(?:'|’)m going to| am going to)(?: now| just| quickly)* (?:${plans})\\b`,
    `\\blet me(?: just| quickly| now)* (?:${plans})\\b`,
    "\\b(?:i am|i(?:'|’)m) (?:now |just )?(?:checking|looking|searching|cancell?ing|processing|booking|sending|working on it)\\b",
    '\\b(?:one|just a|a|give me a) (?:moment|second|minute)\\b|\\bhold on\\b',
    '\\bich (?:habe|hab) .{0,80}\\b(?:storniert|gebucht|gesendet|geschickt|bestellt|geändert|gelöscht|erstattet|überwiesen|geprüft)\\b',
    '\\bich (?:werde|prüfe|schaue|storniere|buche|suche)\\b|\\bich kümmere mich\\b|\\bein(?:en)? moment\\b',
    "\\bj['’]ai (?:annulé|réservé|envoyé|commandé|modifié|supprimé|remboursé|vérifié)|\\bje (?:vais|vérifie|regarde)\\b|\\bje m['’]en (?:occupe|charge)\\b|\\bun instant\\b",
    '\\bhe (?:cancelado|reservado|enviado|pedido|cambiado|eliminado|reembolsado|comprobado)\\b|\\bvoy a\\b|\\bme (?:encargo|ocupo)\\b|\\bun momento\\b',
    '\\bho (?:annullato|prenotato|inviato|ordinato|modificato|eliminato|rimborsato|controllato)\\b|\\bcontrollo subito\\b',
    '\\b(?:cancelei|reservei|enviei|alterei|removi|reembolsei|verifiquei)\\b|\\bvou (?:verificar|cancelar|enviar|reservar)\\b',
  ].join('|'),
  'iu',
)

/** Deeds that are said of another time or only thought of. */
const notClaims =
  /\b(?:if|once|when|after|before|unless|until) (?:i|we|you)\b|\b(?:wenn|sobald|falls|si|cuando|quand|se|quando) \p{L}/iu

/** From so many characters on, a turn holds more than a claim. */
const mostOfAClaim = 600

/** Whether a turn says that something was done or is about to be. Code, and long texts, are answers of their own. */
export function claimsToAct(text: string): boolean {
  const words = seen(text.slice(0, read))
  if (words.length > mostOfAClaim || words.includes('```')) return false
  return [...words.matchAll(sentence)].some(
    ([piece]) => !/[?？]/u.test(piece) && claims.test(piece) && !notClaims.test(piece),
  )
}

/** Words that name nothing: articles, pronouns, auxiliaries, and what people say of anything. */
const empty = new Set(
  `a about again all am an another and any are as at be been but by can could did do does doing for from get got had has have he hello help her hey hi him his
  how i if in into is it its just let like make may me mine more my need no not now of off on one or other our out same please she should so
  some something stuff such sure tell than thanks that the their them then there these they thing things this those to too up us use
  want was we were what when where which who why will with work working works would yes you your problem issue broken wrong fix
  bitte das dem den der die ein eine einen es für hilf hilfe ich ist kann kannst mein meine mir mit nicht und von was wie wo zu
  aide aider avec ça ce cela comment des du elle est et il je la le les ma mais me moi mon ne par pas plaît pour que qui sur un une vous
  ayuda ayudar cómo con el ella en esto este lo los mi no por puedes qué se si su un una y
  aiuto aiutami che come con di funziona ho il io mi mio non per questo sono
  ajuda ajudar como com da do em eu isso meu minha não o os para por que um uma`
    .split(/\s+/u)
    .filter((word) => word !== ''),
)

/**
 * A number, an address, a file, an identifier, or something in quotes: it says which one is meant. No part of it can begin
 * in many places and reach far from each: that takes hours where a client writes text for it.
 */
const concrete =
  /\d|https?:\/\/|[^\s@]@[^\s@.]+\.\S|\w-*\.(?:[a-z]{2,4})\b|["“”„«»「`][^"“”„«»」`]{2,}["“”„«»」`]|\b\w+[_/]\w+\b|\b[a-z]+[A-Z]\w*/u

/** Scripts that are written without blanks. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu

/**
 * What a text says to go by: whether it names something concrete, how many words say something (two characters of a script
 * without blanks are one), and whether it is a question.
 */
export function namesIn(text: string): {
  readonly concrete: boolean
  readonly words: number
  readonly question: boolean
} {
  const start = text.slice(0, read)
  const spaced =
    start
      .toLowerCase()
      .replaceAll(unspaced, ' ')
      .match(/[\p{L}\p{N}][\p{L}\p{N}'’-]*/gu) ?? []
  const telling = new Set(
    spaced.filter((word) => word.length > 1 && !empty.has(word) && !empty.has(word.replace(/['’].*/u, ''))),
  )
  const question =
    /[?？]\s*$/u.test(start) ||
    /^\s*(?:who|what|when|where|why|how|which|is|are|does|do|can|wer|was|wann|wo|wie|qui|quel|quand|où|qué|cuál|cuándo|dónde|chi|quando|dove|quem|qual|onde)\b/iu.test(
      start,
    )
  return {
    concrete: concrete.test(start),
    words: telling.size + Math.floor((start.match(unspaced)?.length ?? 0) / 2),
    question,
  }
}
