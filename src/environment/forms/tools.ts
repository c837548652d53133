import { StringTools } from '../string-tools.ts'

/** The tools of a form. `set` takes a field and its value as one string, `form` and `submit` take none. */
export type FormsTool = 'form' | 'lookup' | 'set' | 'submit'

/** How calls are declared and read. An argument has at most 64 characters: names and values are shorter. */
export const formsCalls = new StringTools<FormsTool>(
  {
    form: { does: 'Shows the form.', takes: null },
    lookup: { does: 'Shows the row of a customer or an item in the table.', takes: 'name' },
    set: { does: 'FIELD VALUE: fills in a field of the form.', takes: 'words' },
    submit: { does: 'Sends the form, and ends the task.', takes: null },
  },
  64,
)

/** As the policy sees them. They say what a tool does, never what a field takes. */
export const formsTools = formsCalls.definitions
