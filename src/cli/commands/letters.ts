import {
  countLetters,
  listUndelivered,
  retryUndelivered,
  setStopped,
  type LetterCounts,
} from '../../server/letters/outbox.ts'
import { OperatorError } from '../../settings/operator-error.ts'
import { localTime, printable } from '../formats.ts'
import { readOptions } from '../options.ts'
import { withDatabase } from '../with-database.ts'

const usage = `Usage: npm run letters -- [option]

  (none)    counts the letters to applicants
  --list    lists those that were refused or given up, and what the other side said
  --retry   tries these again
  --stop    lets no letter leave from now on; what is being handed over this moment is not broken off
  --start   lets them leave again`

const letters = (count: number) => `${count} ${count === 1 ? 'letter' : 'letters'}`

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
  const [act, other] = Object.keys(options)
  if (other !== undefined) throw new OperatorError(`--${act} and --${other} are two things: choose one.`)
  await withDatabase(async ({ owner }) => {
    switch (act) {
      case 'list':
        for (const { state, way, occasion, email, at, answer } of await listUndelivered(owner)) {
          console.log(
            [localTime(at), state, way, occasion, email, answer].map((part) => printable(part)).join('  '),
          )
        }
        return
      case 'retry':
        return console.log(`${letters(await retryUndelivered(owner))} will be tried again.`)
      case 'stop':
        await setStopped(owner, true)
        return console.log('No letter leaves from now on.')
      case 'start':
        await setStopped(owner, false)
        return console.log('Letters leave again.')
      case undefined:
        return print(await countLetters(owner))
    }
  })
}

function print(counts: LetterCounts) {
  console.log(`drafts                  ${counts.draft}`)
  console.log(`waiting                 ${counts.waiting}`)
  console.log(`being handed over       ${counts.sending}`)
  console.log(`sent                    ${counts.sent}`)
  console.log(`refused                 ${counts.refused}`)
  console.log(`given up                ${counts.givenUp}`)
  console.log(`withdrawn               ${counts.withdrawn}`)
  console.log(`may have arrived twice  ${counts.uncertain}`)
  const { told, toTell, untold } = counts
  if (told + toTell + untold === 0) return
  console.log(`automation told         ${told}`)
  console.log(`automation to be told   ${toTell}`)
  console.log(`automation not reached  ${untold}`)
}
