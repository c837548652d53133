import { sentencesOf, type Wordings } from '../sentences.ts'
import type { HouseRequest } from './task-data.ts'

/** Ways to ask for each kind of task. */
const seen: Wordings<HouseRequest['kind']> = {
  move: [
    'Put the {item} from the {from} into the {box} in the {to}.',
    'The {item} is in the {from}. Put it into the {box} in the {to}.',
    'Take the {item} from the {from} and put it into the {box} in the {to}.',
    'Into the {box} in the {to} goes the {item}. It is in the {from}.',
    'Get the {item}, which is in the {from}, and put it into the {box} in the {to}.',
  ],
  unpack: [
    'Take the {item} out of the {source} in the {from} and put it into the {box} in the {to}.',
    'The {item} is in the {source} in the {from}. Put it into the {box} in the {to}.',
    'Move the {item} from the {source} in the {from} to the {box} in the {to}.',
    'Get the {item} from the {source} in the {from}. It goes into the {box} in the {to}.',
    'In the {source} in the {from} is the {item}. Take it to the {box} in the {to}.',
  ],
  find: [
    'Find the {item} and put it into the {box} in the {to}.',
    'Look for the {item}. It goes into the {box} in the {to}.',
    'Somebody left the {item} about. Put it into the {box} in the {to}.',
    'Into the {box} in the {to} goes the {item}. Find it.',
    'The {item} must be somewhere. Take it to the {box} in the {to}.',
  ],
  bring: [
    'Bring the {item} from the {from} to the {to}.',
    'The {item} is in the {from}. Take it to the {to} and put it down.',
    'Carry the {item} from the {from} into the {to}.',
    'We need the {item} in the {to}. It is in the {from}.',
    'Get the {item} from the {from} and leave it in the {to}.',
  ],
}

/** The same, in words that no task to learn from uses. */
const heldOut: Wordings<HouseRequest['kind']> = {
  move: [
    'Please store the {item} in the {box} of the {to}. You will see it in the {from}.',
    'Would you tidy away the {item} that lies in the {from}? Its place is the {box} in the {to}.',
  ],
  unpack: [
    'Please fetch what the {source} in the {from} holds, the {item}, and store it in the {box} of the {to}.',
    'Would you carry the {item} over? It is kept in the {source} in the {from} and belongs in the {box} in the {to}.',
  ],
  find: [
    'Please search the house for the {item} and store it in the {box} of the {to}.',
    'Where is the {item}? Its place is the {box} in the {to}.',
  ],
  bring: [
    'Please have the {item} moved out of the {from} and over to the {to}.',
    'Would you fetch the {item}? It is in the {from} and belongs on the floor of the {to}.',
  ],
}

/** Every way that training asks, and those that are held out. */
export const sentences = { seen: sentencesOf(seen), heldOut: sentencesOf(heldOut) } as const
