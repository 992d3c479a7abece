import { userInfo } from 'node:os'
import { join } from 'node:path'

/** Commands whose output is often piped: npm would print its own lines before it. */
const quietCommands = ['applications', 'organisers']

/** The ways in which a program was started, as far as they decide how its commands are run. */
interface Caller {
  /** Whether npm started the program. */
  isNpm: boolean
  /** The path of `start.js`. */
  path: string
  /** The user that the program runs as, if nobody can log in as that user. */
  serviceUser: string | undefined
}

/**
 * The line that runs a command in the way in which this program was started: by npm, by Node.js, or by Node.js as a user that nobody
 * can log in as. For people to copy, from messages and usages.
 *
 * @param name The command, such as `backup`; `start` for the server itself.
 * @param args Its options, as they are typed.
 */
export function commandLine(name: string, args = '', { isNpm, path, serviceUser } = caller()): string {
  const isServer = name === 'start'
  if (isNpm) {
    const run = isServer ? '' : quietCommands.includes(name) ? 'run -s ' : 'run '
    return `npm ${run}${name}${args === '' ? '' : ` -- ${args}`}`
  }
  const sudo = serviceUser === undefined ? '' : `sudo -u ${serviceUser} `
  return [`${sudo}node ${path}`, isServer ? '' : name, args].filter((part) => part !== '').join(' ')
}

function caller(): Caller {
  const [, script = ''] = process.argv
  return {
    isNpm: process.env['npm_lifecycle_event'] !== undefined,
    // `start.js` changes into its own folder. The path that was typed may lead through a link, which outlives a version.
    path: script.endsWith('start.js') ? script : join(process.cwd(), 'start.js'),
    serviceUser: readServiceUser(),
  }
}

function readServiceUser() {
  try {
    const { username, shell } = userInfo()
    return /\/(?:nologin|false)$/.test(shell ?? '') ? username : undefined
  } catch {
    // The user has no entry, such as in a container.
    return undefined
  }
}
