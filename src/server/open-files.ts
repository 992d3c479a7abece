import { readFileSync } from 'node:fs'

/** The limit of open files below which an evening with many visitors may reach it. */
const enough = 1024
/** Open files for everything but visitors: the database's connections, the mail server, webhooks, backups, the log. */
const reserve = 100
/** The bounds of the number of connections. More would need too much memory. */
const [fewest, most] = [10, 10_000]

/** The number of files that this process may open, of which each connection is one; undefined if it is unknown. */
export function readOpenFileLimit(): number | undefined {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8')
    // Node.js has raised the soft limit to the hard one. The limit is unknown if it says `unlimited`.
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1]) || undefined
  } catch {
    return undefined
  }
}

/** The most connections of visitors for a limit of open files: each may also need a file that is being sent. */
export function mostConnections(openFiles: number): number {
  return Math.min(Math.max(Math.floor((openFiles - reserve) / 2), fewest), most)
}

/** A sentence with advice if the limit of open files is too low; otherwise undefined. */
export function openFilesProblem(openFiles: number | undefined): string | undefined {
  if (openFiles === undefined || openFiles >= enough) return undefined
  return `The server may open only ${openFiles} files, so at most ${mostConnections(openFiles)} visitors can be connected: raise the limit to 4096 (LimitNOFILE in the unit, or ulimit -n), and restart it.`
}
