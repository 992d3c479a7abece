import type { FastifyBaseLogger } from 'fastify'

import type { PageWords } from '../../application/page-words.ts'
import type { Look, OperatorLook } from '../../design/look.ts'
import { lookOf } from '../../pages/look.ts'
import type { Sql } from '../database/connection/sql.ts'
import { startPolling } from '../polling.ts'
import { prepareDocument, type PreparedDocument, type Rendered } from './document.ts'

/** How often the words and the door are read, in milliseconds. A page may show a change this much later. */
const interval = 1_000

/** The words of the pages, which organisers change at the desk while the server runs, and whether applications are open. */
export interface PageState {
  /** The words as they were last read. */
  look: () => Look
  /** The sentence of the closed form, as it was last read; undefined while applications are open. */
  closedSentence: () => string | undefined
  /**
   * Prepares a document with the words, and again in the background when they have changed.
   *
   * @param render Renders the document.
   * @param headers Headers in addition to those of every document.
   * @returns A function that returns the newest document that is ready.
   */
  documentOf: (
    render: (look: Look) => Rendered,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<() => PreparedDocument>
  stop: () => Promise<void>
}

/**
 * Reads the words of the pages, and whether applications are open. It does so once, and then in the background, so that no visitor
 * waits for the database. While the database cannot be read, the last state stays.
 *
 * @param sql Queries the database, as the schema's owner.
 * @param operator The words that the operator's settings have. They win.
 */
export async function startPageState(
  sql: Sql,
  operator: OperatorLook,
  log: FastifyBaseLogger,
): Promise<PageState> {
  let text = ''
  let closedSentence: string | undefined
  let look = lookOf(operator, {})
  let readAccent: string | undefined
  const renewals: (() => Promise<void>)[] = []
  const read = async () => {
    const [row] = await sql<[{ words: PageWords; sentence: string | null }]>`
      select private.page_shown() as words, public.door_is_open() ->> 'sentence' as sentence`
    closedSentence = row.sentence ?? undefined
    const newText = JSON.stringify(row.words)
    if (newText === text) return
    look = lookOf(operator, row.words)
    const { accent } = row.words
    if (accent !== readAccent && accent && !look.accent)
      log.warn('the accent colour of the page is not allowed, and is left out')
    readAccent = accent
    await Promise.all(renewals.map((renew) => renew()))
    text = newText
  }
  await read()
  const polling = startPolling(read, interval, (error) =>
    log.warn({ err: error }, 'the words of the page and the door could not be read'),
  )
  return {
    look: () => look,
    closedSentence: () => closedSentence,
    async documentOf(render, headers) {
      // One after the other, so that the newest words win. They may change while the first document is prepared.
      let prepared = prepareDocument(render(look), headers)
      let document: PreparedDocument
      renewals.push(async () => {
        const prepare = () => prepareDocument(render(look), headers)
        prepared = prepared.then(prepare, prepare)
        document = await prepared
      })
      document = await prepared
      return () => document
    },
    stop: () => polling.stop(),
  }
}
