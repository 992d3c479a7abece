import { spawn } from 'node:child_process'
import { once } from 'node:events'

/**
 * Mounts a file system over a folder that nobody answers for, as a network disk whose server is gone: each call waits.
 *
 * @param user Whose it is: calls of others are refused (EACCES).
 * @returns Takes it away again; what waits then fails.
 * @throws {Error} where this user may not mount.
 */
export async function silence(folder: string, user = process.getuid?.()): Promise<() => Promise<void>> {
  const options = `fd=3,rootmode=40000,user_id=${user},group_id=0`
  const script = `exec 3<>/dev/fuse && mount -i -t fuse -o ${options} none "$1" && echo && read end; exec 3>&-; umount -l "$1"`
  const holder = spawn('sh', ['-c', script, 'sh', folder], { stdio: ['pipe', 'pipe', 'ignore'] })
  const ended = once(holder, 'close')
  await Promise.race([
    once(holder.stdout, 'data'),
    ended.then(() => Promise.reject(new Error(`${folder} could not be mounted over`))),
  ])
  return async () => {
    holder.stdin.end()
    await ended
  }
}
