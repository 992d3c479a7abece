// Ends the database of a demonstration that was killed. The demonstration keeps the standard input of this program open, so
// the input ends with the demonstration.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const [, , folder = ''] = process.argv
process.stdin
  .on('end', () => {
    try {
      const pid = Number.parseInt(readFileSync(join(folder, 'pgdata', 'postmaster.pid'), 'utf8'), 10)
      // PostgreSQL's fast shutdown, which does not wait for clients.
      if (pid > 0) process.kill(pid, 'SIGINT')
    } catch {
      // The demonstration has ended its database, as it should.
    }
  })
  .resume()
