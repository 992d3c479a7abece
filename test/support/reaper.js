// Ends all processes and removes all files that a test run left behind, also if the run was killed. The run keeps this
// program's standard input open. When the input ends, the run has ended.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'

const [, , folder = ''] = process.argv

/**
 * Whether a process belongs to the run: it has the run's folder in its environment or, like PostgreSQL, works in that folder.
 *
 * @param {string} pid
 */
function isOfRun(pid) {
  const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  return environment.includes(`TEST_RUN=${folder}`) || readlinkSync(`/proc/${pid}/cwd`).startsWith(folder)
}

/** The processes of the run. Only Linux lists them this way. */
function runProcesses() {
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
      // It ended meanwhile, or belongs to another user.
      return []
    }
  })
}

process.stdin
  .on('end', () => {
    // PostgreSQL removes its shared memory at SIGQUIT. A frozen process receives the signal only after it continues.
    for (const { pid, name } of runProcesses()) {
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
