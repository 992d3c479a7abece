import { randomUUID } from 'node:crypto'
import { escapeIdentifier } from 'pg'

/** A statement's parameter. A JSON text is cast where it is used. */
export type Parameter = string | number | bigint | boolean | Date | Buffer | null | readonly Parameter[]

/** The rows of a result, and in `count` the number of rows that the statement returned or changed. */
export type Rows<Row extends readonly unknown[]> = Row & { count: number }

type AnyRow = Record<string, unknown>

/** The options of one statement. */
export interface StatementOptions {
  /** Whether to prepare the statement if the connection allows it, because the statement is frequent. */
  prepare?: boolean
  /** Whether the statement may only read. Connections that begin a transaction for each statement enforce this. */
  readOnly?: boolean
}

/**
 * Queries a database with a template literal. Its values become parameters, and it can contain other templates. The query is sent
 * when its result is awaited.
 */
export interface Sql {
  <Row extends readonly unknown[] = AnyRow[]>(
    text: TemplateStringsArray,
    ...values: (Parameter | Template)[]
  ): Statement<Row>
  /**
   * Runs an SQL text. Without parameters, the text may have several statements.
   *
   * @param parameters The values of `$1` and so on.
   */
  unsafe: <Row extends readonly unknown[] = AnyRow[]>(
    text: string,
    parameters?: readonly Parameter[],
    options?: StatementOptions,
  ) => Promise<Rows<Row>>
  /**
   * Runs work in a transaction on one connection; within a transaction, in a savepoint. Failing work is rolled back.
   *
   * @param mode The words after `begin`, such as `read only`.
   */
  begin: {
    <Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>
    <Result>(mode: string, work: (sql: Sql) => Promise<Result>): Promise<Result>
  }
}

/** An SQL text with parameters: a statement or a part of one. */
export class Template {
  readonly #text: readonly string[]
  readonly #values: readonly (Parameter | Template)[]

  constructor(text: readonly string[], values: readonly (Parameter | Template)[]) {
    this.#text = text
    this.#values = values
  }

  /** @returns The text with `$1` and so on, and the values of these parameters. */
  compile(parameters: Parameter[] = []): { text: string; parameters: Parameter[] } {
    let [text = ''] = this.#text
    this.#values.forEach((value, index) => {
      if (value instanceof Template) text += value.compile(parameters).text
      else text += `$${parameters.push(value)}`
      text += this.#text[index + 1]
    })
    return { text, parameters }
  }
}

/** A template that can be awaited. */
class Statement<Row extends readonly unknown[]> extends Template implements Promise<Rows<Row>> {
  readonly [Symbol.toStringTag] = 'Statement'
  readonly #send: (text: string, parameters: Parameter[]) => Promise<Rows<Row>>
  #sent: Promise<Rows<Row>> | undefined

  constructor(
    text: readonly string[],
    values: readonly (Parameter | Template)[],
    send: (text: string, parameters: Parameter[]) => Promise<Rows<Row>>,
  ) {
    super(text, values)
    this.#send = send
  }

  // oxlint-disable-next-line unicorn/no-thenable -- It can be part of another statement, so it is sent when it is awaited.
  then<Fulfilled = Rows<Row>, Rejected = never>(
    onFulfilled?: ((rows: Rows<Row>) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    if (this.#sent === undefined) {
      const { text, parameters } = this.compile()
      this.#sent = this.#send(text, parameters)
    }
    return this.#sent.then(onFulfilled, onRejected)
  }

  catch<Rejected = never>(onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null) {
    return this.then(undefined, onRejected)
  }

  finally(onFinally?: (() => void) | null) {
    return this.then((rows) => rows).finally(onFinally)
  }
}

/** A table's or column's name, with or without a schema, as part of a template. */
export const identifier = (name: string): Template =>
  new Template([name.split('.').map(escapeIdentifier).join('.')], [])

/** The functions that run statements and transactions. */
export interface Runner {
  run: <Row extends readonly unknown[]>(
    text: string,
    parameters: readonly Parameter[],
    options: StatementOptions,
  ) => Promise<Rows<Row>>
  begin: <Result>(mode: string, work: (sql: Sql) => Promise<Result>) => Promise<Result>
}

/** Creates an `Sql` from a runner. */
export function sqlOf({ run, begin }: Runner): Sql {
  const template: (...given: [TemplateStringsArray, ...(Parameter | Template)[]]) => Statement<never[]> = (
    text,
    ...values
  ) => new Statement(text, values, (compiled, parameters) => run(compiled, parameters, { prepare: true }))
  return Object.assign(template, {
    unsafe: (text: string, parameters: readonly Parameter[] = [], options: StatementOptions = {}) =>
      run(text, parameters, options),
    begin: (...given: [string, (sql: Sql) => Promise<never>] | [(sql: Sql) => Promise<never>]) =>
      given.length === 1 ? begin('', given[0]) : begin(...given),
  }) as unknown as Sql
}

/** Characters in a batch of rows. Their JSON may be six times as long. */
export const maxBatchLength = 8 * 1024 * 1024

/** Rows that are fetched first, while their length is unknown. */
const firstSize = 10

/**
 * Reads the rows of a statement in batches, so that memory holds one batch. Needs a transaction, for its cursor. Batches of long
 * rows have fewer rows: at most `maxBatchLength` characters, or one row. The next rows may be longer than the last ones, so
 * memory holds `size` of the longest rows at worst.
 *
 * @param size The maximum number of rows in a batch.
 */
export async function* inBatches<Row extends object>(
  sql: Sql,
  text: string,
  size: number,
  parameters?: readonly Parameter[],
): AsyncGenerator<Row[]> {
  const cursor = `rows_${randomUUID().replaceAll('-', '')}`
  await sql.unsafe(`declare ${cursor} no scroll cursor for ${text}`, parameters)
  let count = Math.min(size, firstSize)
  for (;;) {
    const rows = await sql.unsafe<Row[]>(`fetch ${count} from ${cursor}`)
    if (rows.length === 0) break
    let total = 0
    let batch: Row[] = []
    let length = 0
    for (const row of rows) {
      const rowLength = lengthOf(row)
      if (batch.length > 0 && length + rowLength > maxBatchLength) {
        yield batch
        batch = []
        length = 0
      }
      batch.push(row)
      length += rowLength
      total += rowLength
    }
    yield batch
    count = Math.min(size, Math.max(1, Math.floor((rows.length * maxBatchLength) / Math.max(1, total))))
  }
  await sql.unsafe(`close ${cursor}`)
}

/** The number of characters in a row's texts. */
function lengthOf(row: object) {
  let length = 0
  for (const value of Object.values(row)) if (typeof value === 'string') length += value.length
  return length
}
