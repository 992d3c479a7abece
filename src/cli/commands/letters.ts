import { countOf } from '../../application/count.ts'
import {
  countLetters,
  listUndeliveredLetters,
  mailSenderState,
  retryUndelivered,
  type LetterCounts,
  type MailSenderState,
  type UndeliveredLetter,
} from '../../server/letters/overview.ts'
import { setStopped } from '../../server/letters/pause-emails.ts'
import { commandLine } from '../../settings/command-to-copy.ts'
import { OperatorError } from '../../settings/operator-error.ts'
import { localTime, onOneLine } from '../formats.ts'
import { readOptions } from '../options.ts'
import { writeLines } from '../output.ts'
import { withDatabase } from '../with-database.ts'

const usage = `Usage: ${commandLine('letters', '[option]')}

  (none)    counts the letters to applicants, and says why they wait
  --list    lists letters that were refused or given up, or failed and are retried, with the last reply
  --retry   tries these again
  --stop    sends no letters from now on; letters that are being given to the mail server are not aborted
  --start   sends them again, each in a minute: until then the desk can stop it`

/** Letters that are read from the database at a time. */
const batchSize = 500

/** Runs `npm run letters`, by its options in `usage`. */
export async function run(): Promise<void> {
  const options = readOptions(
    {
      list: { type: 'boolean' },
      retry: { type: 'boolean' },
      stop: { type: 'boolean' },
      start: { type: 'boolean' },
    },
    usage,
  )
  if (options === undefined) return
  const [option, second] = Object.keys(options)
  if (second !== undefined) throw new OperatorError(`Use either --${option} or --${second}.`)
  await withDatabase(async ({ owner }) => {
    switch (option) {
      case 'list':
        return owner.begin('read only', (sql) => writeLines(listUndeliveredLetters(sql, batchSize), lineOf))
      case 'retry':
        return console.log(`${countOf(await retryUndelivered(owner), 'letter')} will be tried again.`)
      case 'stop':
        await setStopped(owner, true)
        return console.log('Letters are stopped.')
      case 'start':
        await setStopped(owner, false)
        return console.log('Sending resumed.')
      case undefined:
        return print(await countLetters(owner), await mailSenderState(owner))
    }
  })
}

function lineOf({ state, way, occasion, email, at, nextAt, reply }: UndeliveredLetter) {
  const next = nextAt === null ? state : `next try ${localTime(nextAt)}`
  return [localTime(at), next, way, occasion || 'to one person', email, reply].map(onOneLine).join('  ')
}

function print(counts: LetterCounts, mailSender: MailSenderState) {
  console.log(`drafts                  ${counts.draft}`)
  console.log(`waiting                 ${counts.waiting}`)
  console.log(`being sent              ${counts.sending}`)
  console.log(`sent                    ${counts.sent}`)
  console.log(`refused                 ${counts.refused}`)
  console.log(`given up                ${counts.givenUp}`)
  console.log(`withdrawn               ${counts.withdrawn}`)
  console.log(`may have arrived twice  ${counts.uncertain}`)
  const { decisionsDelivered, webhooksWaiting, webhooksFailed } = counts
  if (decisionsDelivered + webhooksWaiting + webhooksFailed > 0) {
    console.log(`sent to the automation  ${decisionsDelivered}`)
    console.log(`  waiting for it        ${webhooksWaiting}`)
    console.log(`  failed                ${webhooksFailed}`)
  }
  printWhyLettersWait(counts, mailSender)
}

function printWhyLettersWait(
  { waiting }: LetterCounts,
  { isStopped, isRunning, problem, failingSince, nextAt }: MailSenderState,
) {
  if (isStopped) console.log('Letters are stopped. --start resumes them.')
  if (waiting > 0 && !isRunning) console.log('No server hands letters over: set SMTP_URL and MAIL_FROM.')
  if (problem === '') return
  const since = failingSince === null ? '' : ` since ${localTime(failingSince)}`
  const next = nextAt === null ? '' : ` Next try ${localTime(nextAt)}.`
  console.log(`Letters are waiting${since}: ${onOneLine(problem)}${next}`)
}
