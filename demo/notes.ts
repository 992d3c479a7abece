/** Notes of organisers, some with another organiser's reply. */
export const notes: readonly (readonly [note: string, reply?: string])[] = [
  ['Met in Lisbon. Asks good questions.'],
  ['Funny and honest. Would be good at the long table.', 'Agreed. And cooks!'],
  ['Third founder from the same accelerator. One of them is enough.'],
  ['Sounds exhausted. Is a retreat what helps here?', 'I called: yes, and the doctor says so too.'],
  ['Writes well.'],
  ['Reads like a pitch.', 'The second paragraph is not. I would give it another look.'],
  ['Wants to bring a dog. Ask the house.', 'The house says one dog, small.'],
  ['Vegetarian, see the email of Tuesday.'],
  ['Could come for the first week alone.'],
  ['Knows two of those who are coming. No reason against it.'],
  ['Never answered the question, but I like the answer.'],
  ['Needs a room on the ground floor.', 'Room 3 is kept.'],
  ['Recommended by someone from last year.'],
  [
    'Team of eleven, and nobody to stand in. Will be on the phone.',
    'Says the co-founder takes over. I believe it.',
  ],
  ['Too early: founded in August.'],
  ['I would trade two of the others for this one.'],
  ['Plays the cello. There is a cello in the house.'],
  ['Offers to pay for somebody who cannot.', 'Wrote back to say thank you.'],
  ['Applied last year too, and was on the waitlist. Let us not do that twice.'],
  ['LinkedIn leads nowhere. Asked.', 'It was a typing mistake.'],
  ['Travels from far: needs to know by the end of the month.'],
  ['Not sure. Let us talk on Monday.', 'Talked: yes.'],
  ['Says "content" six times.'],
  ['A week without messages starts with reading the whole message. This one did.'],
]

/** One-line reasons of marks, by the mark's value; blank for none. */
export const markReasons = {
  yes: ['I would sit next to them.', '', 'Knows what they want to leave behind.', 'Best letter of the week.'],
  maybe: ['Good, but the second from this company.', 'Is a week enough?', ''],
  no: ['A pitch.', '', 'Wants to network. We have no network.'],
} as const
