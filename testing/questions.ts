import type { Question } from '../src/application/questions.ts'
import type { Sql } from '../src/server/database/sql.ts'

/** Sets the questions to guests, without earlier ones and their answers. Returns their ids, in order. */
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
