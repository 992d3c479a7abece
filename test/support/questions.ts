import type { Question } from '../../src/application/questions.ts'
import type { Sql } from '../../src/server/database/connection/sql.ts'
import type { Applicants } from './applicants.ts'

/** Stores people who are coming, with an address each, and returns their ids. */
export async function storeGuests(
  desk: Pick<Applicants, 'store' | 'setStatus'> & { readonly sql: Sql },
  ...names: [first: string, last: string][]
): Promise<string[]> {
  const stored = await desk.store(
    names.map(([first_name, last_name]) => ({
      first_name,
      last_name,
      email: `${first_name.toLowerCase()}@example.com`,
    })),
  )
  await desk.setStatus(stored, 'accepted')
  await desk.sql`
    update private.invitations set told_at = now() - interval '10 days', deadline = private.today() + 10, rsvp = 'coming', rsvp_at = now()`
  return stored.map(({ id }) => id)
}

/** Replaces the questions to guests, and removes all answers. Returns the ids of the questions, in order. */
export async function storeQuestions(
  sql: Sql,
  questions: readonly (Partial<Question> & Pick<Question, 'text'>)[],
  { until = null, privateDays = 30 }: { until?: string | null; privateDays?: number } = {},
): Promise<string[]> {
  const isPrivate = questions.some(({ is_private }) => is_private)
  await sql`delete from private.questions`
  await sql`
    update private.editions set questions_version = questions_version + 1, questions_until = ${until},
      private_days = ${isPrivate ? privateDays : null}`
  const ids: string[] = []
  for (const [index, question] of questions.entries()) {
    const { kind = 'short', text, choices = [], is_required = false, is_private = false } = question
    const [row] = await sql<[{ id: string }]>`
      insert into private.questions (edition, position, kind, text, choices, is_required, is_private)
      select max(id), ${index + 1}::integer, ${kind}, ${text}, ${choices}, ${is_required}, ${is_private}
      from private.editions returning id`
    ids.push(row.id)
  }
  return ids
}

/** Stores answers of a guest, by the id of the question. */
export async function storeAnswers(
  sql: Sql,
  application: string,
  answers: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [question, answer] of Object.entries(answers)) {
    await sql`
      insert into private.question_answers (application_id, question_id, answer)
      values (${application}, ${question}, ${answer})`
  }
}

/** Questions of every kind, as a retreat asks them. */
const exampleQuestions: Parameters<typeof storeQuestions>[1] = [
  {
    kind: 'choice',
    text: 'When do you arrive?',
    choices: ['Thursday evening', 'Friday morning', 'Friday evening'],
    is_required: true,
  },
  { text: 'What do you not eat?', is_required: true },
  { kind: 'yes-no', text: 'Do you share a room?' },
  { kind: 'long', text: 'What else should the house know?' },
  { text: 'Whom do we call in an emergency?', is_required: true, is_private: true },
]

/** Stores the example questions. All guests but the last have answered them. */
export async function storeExampleAnswers(sql: Sql): Promise<void> {
  const ids = await storeQuestions(sql, exampleQuestions)
  const guests = await sql<{ id: string }[]>`
    select application_id as id from private.invitations join public.retreat_applications on id = application_id
    where is_accepted and rsvp = 'coming' order by created_at`
  const answers = [
    ['Thursday evening', 'Nuts', 'yes', 'I bring a cello.\nIt needs a dry corner.', 'Mary, +44 20 7946 0100'],
    ['Friday morning', 'Everything is fine', 'no', '', 'Vincent, +44 20 7946 0101'],
  ] as const
  for (const [index, { id }] of guests.slice(0, -1).entries()) {
    const given = answers[index % answers.length] ?? []
    await storeAnswers(
      sql,
      id,
      Object.fromEntries(ids.flatMap((question, at) => (given[at] ? [[question, given[at]]] : []))),
    )
  }
}
