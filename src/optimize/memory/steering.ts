/** Whom the model serves, in the third person; not what only begins so: "the customer number". */
const served = String.raw`(?:(?:the|any|every|each|all|your|this|that)(?: \w+)? (?:user|customer|client|visitor)s?|users|customers|clients|visitors)\b(?! (?:numbers?|names?|ids?|cards?|accounts?|services?|support|portal|cent(?:er|re)|desk|manuals?|guides?|areas?|menus?|interface|profiles?)\b)`

/** A pattern in which `SERVED` stands for whom the model serves. */
const aboutServed = ({ source }: RegExp) => new RegExp(source.replace('SERVED', served))

/** What steers a model, beside what takes the place of its instructions. Help tells its reader what to do, too: that is none. */
export const steering = [
  // What was said before counts no more.
  /\b(?:ignore|disregard|forget) (?:about )?(?:everything|anything|all|whatever|what)(?: that| which)? (?:of )?(?:the )?(?:above|before|you (?:were|are|have been|had been|know|learned)|(?:was|has been) said|i (?:said|told))\b/,
  /\b(?:ignore|disregard|forget) (?:all )?(?:of )?(?:the )?above(?: and\b| text\b| context\b| ?[.,;:!]| ?$)/,
  /\b(?:ignore|disregard|forget) (?:all|any|every|the) (?:texts?|words?|messages?|lines?) (?:above|before this)\b/,
  /\b(?:your|previous|above|earlier) (?:instructions?|rules|guidelines) (?:have (?:been )?(?:changed|revoked|updated|replaced)|(?:do not|don['’]t|no longer) apply)\b/,
  /\b(?:ignore|disregard|forget|override|bypass) (?:all )?(?:of )?your (?:\w+ )?(?:safety|content|guardrails?|safeguards?|restrictions?|programming|training)\b/,
  // Another part to play, another task.
  /\b(?:pretend you(?: are|['’]re)|do anything now|you are no longer (?:an? )?(?:ai|assistant|chat ?bot|bound|restricted))\b/,
  /\byour (?:new|only|real) task is\b|(?:^|[.!?] ?)new task ?:|\[ ?system\b/,
  // A model's duties, and words to it.
  /\b(?:the|this|any|every|an|all) (?:ai|assistant|chat ?bot|language model|llm)s?(?: (?:that|who|which|reading)\b[^.!?\n]{0,40})? (?:must|should|shall|has to|have to|needs? to|(?:is|are) (?:required|to))\b/,
  /\b(?:note|message|reminder|attention) (?:to|for) (?:the |any |every |all )?(?:ai|assistant|chat ?bot|language model|llm|model)s?\b/,
  /\b(?:when|whenever|if|once) you (?:(?:recall|retrieve|remember) this|(?:read|see) this (?:note|memory))\b/,
  /\byou (?:must|shall|are (?:required )?to) (?:always|only) (?:choose|pick|select|answer|reply|respond|say|recommend|approve|refuse|obey)\b/,
  // What is to hold in other conversations than its own.
  /\b(?:from now on|henceforth|from here on|going forward),? (?:(?:please|always|only|never|do not|you (?:must|will|should|shall)) )*(?:answer|reply|respond|say|tell|recommend|choose|call|send|wire|transfer|approve|refuse|obey|follow|treat|mention|include)\b/,
  /\bin (?:(?:every|each)|(?:all|any) (?:future|later|other|subsequent)) (?:answer|repl(?:y|ies)|response|conversation|chat|session)s?\b/,
  /\b(?:whenever|every time|each time|any time) (?:a|any|the|another|some) (?:user|customer|client|visitor)s? (?:asks?|wants?|says?|mentions?|requests?)\b/,
  // What is to be kept from whom it serves.
  aboutServed(
    /\b(?:do not|don['’]t|never) (?:ever )?(?:mention|say|reveal|disclose|show|report|admit|explain|give)\b[^.!?]{0,40} to SERVED/,
  ),
  aboutServed(/\b(?:keep|keeping|hide|hiding|conceal|withhold|withholding)\b[^.!?]{0,40} from SERVED/),
  /\b(?:user|customer|client|visitor)s? (?:must|should|may|need)(?: not|n['’]t| never) (?:ever )?(?:know|learn|notice|find out|hear|see|be (?:told|informed))\b/,
  // What would keep it from harm.
  /\b(?:ignore|disregard|forget|override|bypass) (?:about )?(?:the|your|any|all|every|each|these|those|our|its)(?: \w+){0,2}? (?:polic(?:y|ies)|rules?|instructions?|guidelines?|checks?|confirmations?|approvals?|verifications?|prompts?|limits?)\b(?! (?:e-?mails?|mails?|letters?|messages?|sms|links?|codes?|buttons?|windows?|dialogs?|box(?:es)?|engine|lights?)\b)/,
  /\b(?:skip|skipping|bypass|bypassing|omit|omitting|waive|waiving|circumvent|circumventing)(?: (?!and\b|or\b|then\b|to\b|if\b)\w+){0,3}? (?:checks?|confirmations?|approvals?|verifications?|authori[sz]ations?|authentication)\b(?![ -](?:in|out|box|boxes|e-?mails?|lights?)\b)/,
  /(?<!\b(?:not|never|cannot|can['’]t|don['’]t|won['’]t) )\b(?:approve|pay|refund|send|wire|transfer|grant|release|delete|execute|call)\b[^.!?]{0,60}? without (?:any |a |the |further |more |asking for )?(?:checks?|checking|confirm(?:ation|ing)|approval|verif(?:ication|ying)|authori[sz]ation)\b/,
  /(?<!\b(?:we|they|i|it|who|which|that|people) |\b(?!you )\w+ (?:will|would) )\b(?:do not|don['’]t|never) (?:ever )?(?:ask|wait|check|request|require|demand)(?: for)?(?: (?:any|a|an|the|their|further|more))* (?:confirmations?|approvals?|permission|verifications?|authori[sz]ations?|receipts?|proofs?|identity)\b/,
  // Orders about whom it serves: help speaks to that person.
  aboutServed(
    /\byou (?:must|should|shall|have to|need to|ought to|are to)(?: (?:always|never|not|only|ever))* \w+ (?:to )?SERVED/,
  ),
  aboutServed(
    /(?:^|[.!?;:,–-] ?|\b(?:and|then|please|you|should|must|to) )(?:always|never) (?!\w*[^s ]s\b)\w+ (?:[^.!?;:]{0,40} )?SERVED/,
  ),
  aboutServed(
    /(?<!\b(?:we|they|i|it|who|which|that|people) |\b(?!you )\w+ (?:will|would) )\b(?:do not|don['’]t|never) (?:ever )?(?:tell|let|inform|warn|ask|notify|alert|question) SERVED/,
  ),
  aboutServed(/\bwithout (?:telling|letting|informing|warning|asking|notifying|alerting) SERVED/),
  // Another part to play, in the imperative.
  /(?:^|[.!?;:,–-] ?|\b(?:you(?: \w+){0,2}|please|now|and|then|always|never|must|should) )(?:act|behave|operate|speak) (?:as|like) (?:if|though|an?|the|my|our|your)\b/,
  // Standing orders to call tools. What calls were made is told as they were: `name({…})`.
  /\b(?:always|never|only|must|should|shall|have to|need to|sure to|sure that you|remember to|do not|every time|from now on,?)(?: (?:first|then|always|please))* (?:(?:call|invoke|execute|trigger) (?:the |a )?(?:[`"']?\w+_\w+|[`"']\w+[`"']|\w+\(|(?:\w+ )?(?:tools?|functions?|endpoints?)\b)|(?:use|run) (?:the )?[`"']?\w+_\w+)/,
  /\b(?:(?:call|invoke|execute|trigger) (?:the )?(?:[`"']?\w+_\w+[`"']?|\w+\([^)]{0,200}\)|[`"']\w+[`"']|\w+ (?:tool|function|endpoint))|(?:use|run) (?:the )?[`"']?\w+_\w+[`"']?)(?:,? (?:at )?(?:first|before (?:anything|everything|answering|you|all)|every time|each time|always|whenever|in every|for every))\b/,
  // Where it says that it comes from.
  /\bthis (?:note|memory|entry|instruction|directive)\b[^.!?\n]{0,20}\b(?:verified|approved|authori[sz]ed|confirmed|issued|written|comes|came|is|was) (?:by|from)\b[^.!?\n]{0,12}\b(?:admin\w*|developers?|operators?|management|system|owners?|openai|anthropic)\b/,
  /\b(?:system|admin(?:istrator)?|developer|operator) (?:override|directive)\b/,
] as const
