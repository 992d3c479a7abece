// Ends the database of a demonstration that was killed: whoever started this held its standard input open.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const [, , folder = ''] = process.argv
process.stdin
  .on('end', () => {
    try {
      const pid = Number.parseInt(readFileSync(join(folder, 'pgdata', 'postmaster.pid'), 'utf8'), 10)
      // By which PostgreSQL stops without waiting for anybody.
      if (pid > 0) process.kill(pid, 'SIGINT')
    } catch {
      // It has ended already, as it should.
    }
  })
  .resume()
