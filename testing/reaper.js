// Ends what a run of the tests left behind, however that ended: whoever started this held its standard input open.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'

const [, , folder = ''] = process.argv

/** @param {string} pid Whether it has the run's folder in its environment or, as PostgreSQL, works in it. */
function isOfRun(pid) {
  const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  return environment.includes(`TEST_RUN=${folder}`) || readlinkSync(`/proc/${pid}/cwd`).startsWith(folder)
}

/** The processes of the run. Linux alone lets them be found. */
function left() {
  let processes = []
  try {
    processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
  } catch {
    return []
  }
  return processes.flatMap((pid) => {
    try {
      if (!isOfRun(pid)) return []
      return [{ pid: Number(pid), name: readFileSync(`/proc/${pid}/comm`, 'utf8').trim() }]
    } catch {
      // It ended meanwhile, or is somebody else's.
      return []
    }
  })
}

process.stdin
  .on('end', () => {
    // PostgreSQL removes its shared memory at SIGQUIT, which a frozen one takes only when it is woken up.
    for (const { pid, name } of left()) {
      try {
        process.kill(pid, name === 'postgres' ? 'SIGQUIT' : 'SIGKILL')
        process.kill(pid, 'SIGCONT')
      } catch {
        // It ended meanwhile.
      }
    }
    const mounts = existsSync('/proc/mounts') ? readFileSync('/proc/mounts', 'utf8') : ''
    for (const [, mounted = ''] of mounts.matchAll(/^\S+ (\S+)/gm)) {
      if (mounted.startsWith(`${folder}/`)) spawnSync('umount', ['-l', mounted])
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  })
  .resume()
