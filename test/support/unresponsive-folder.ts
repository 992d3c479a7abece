import { spawn } from 'node:child_process'
import { once } from 'node:events'

/**
 * Mounts a file system without a server over a folder. Like on a network disk whose server is down, each call hangs.
 *
 * @param user The user of the file system. Calls of other users are refused (EACCES).
 * @returns A function that unmounts it. Hanging calls then fail.
 * @throws {Error} This user may not mount.
 */
export async function makeUnresponsive(
  folder: string,
  user = process.getuid?.(),
): Promise<() => Promise<void>> {
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
