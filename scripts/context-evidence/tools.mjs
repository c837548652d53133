/** 300 tools of thirty subjects, ten actions each, and requests for each of them. */

/** What tools call a subject, and what people call it. */
const subjects = [
  ['invoice', 'bill'],
  ['shipment', 'parcel'],
  ['employee', 'colleague'],
  ['vacation', 'time off'],
  ['vehicle', 'car'],
  ['contract', 'agreement'],
  ['warehouse', 'storehouse'],
  ['ticket', 'support case'],
  ['campaign', 'advert'],
  ['meeting', 'appointment'],
  ['password', 'login secret'],
  ['server', 'machine'],
  ['repository', 'code base'],
  ['supplier', 'vendor'],
  ['refund', 'money back'],
  ['discount', 'price cut'],
  ['subscription', 'monthly plan'],
  ['document', 'paper'],
  ['photo', 'picture'],
  ['payroll', 'salaries'],
  ['expense', 'spending'],
  ['reservation', 'booking'],
  ['survey', 'questionnaire'],
  ['budget', 'funds'],
  ['certificate', 'diploma'],
  ['complaint', 'grievance'],
  ['inventory', 'stock'],
  ['customer', 'client'],
  ['apartment', 'flat'],
  ['device', 'gadget'],
]

/** An action's name, what its tool says of it, and how somebody asks for it. */
const actions = [
  ['create', (it) => `Creates a new ${it} record.`, (it) => `We need one more ${it}, please set it up.`],
  ['delete', (it) => `Removes a ${it} for good.`, (it) => `Get rid of that ${it}, nobody wants it any longer.`],
  ['list', (it) => `Lists every ${it} with its state.`, (it) => `Give me an overview of all we have of ${it}.`],
  ['approve', (it) => `Approves a pending ${it}.`, (it) => `The boss agrees: sign off the ${it}.`],
  ['export', (it) => `Exports ${it} data as a spreadsheet.`, (it) => `Put the ${it} figures into Excel for me.`],
  ['assign', (it) => `Assigns a ${it} to a person.`, (it) => `Hand the ${it} over to Mary.`],
  ['schedule', (it) => `Schedules a ${it} for a date.`, (it) => `Plan the ${it} for next Tuesday.`],
  ['notify', (it) => `Notifies the owner of a ${it} by e-mail.`, (it) => `Write to whoever is in charge of the ${it}.`],
  ['archive', (it) => `Archives an old ${it}.`, (it) => `Put last year's ${it} away, but keep it.`],
  ['compare', (it) => `Compares one ${it} with another.`, (it) => `What differs between these two: ${it} one and two?`],
]

const nameOf = (action, subject) => `${action}_${subject}`

export const tools = subjects.flatMap(([subject]) =>
  actions.map(([action, says]) => ({
    name: nameOf(action, subject),
    description: says(subject),
    parameters: { type: 'object', properties: { id: { type: 'string' } } },
  })),
)

const asks = (word) =>
  subjects.flatMap((subject) =>
    actions.map(([action, , ask]) => ({ tool: nameOf(action, subject[0]), query: ask(word(subject)) })),
  )

/** A request for each tool: that keeps the tool's word for its subject, that keeps none of its words, and that has both verb and subject. */
export const requests = {
  "the tool's own words": subjects.flatMap(([subject]) =>
    actions.map(([action]) => ({
      tool: nameOf(action, subject),
      query: `Please ${String(action)} the ${subject} of last week.`,
    })),
  ),
  "the tool's word for the subject": asks(([subject]) => subject),
  'other words': asks(([, word]) => word),
}
