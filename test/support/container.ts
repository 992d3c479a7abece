import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { sizeOf } from './archive.ts'
import { findProgram } from './requirements.ts'
import { outputOf, type Output } from './output.ts'
import { endWithTest } from './end-with-test.ts'

const run = promisify(execFile)

/** The settings in an image that say how to run it. */
interface ImageConfig {
  User: string
  Env: string[]
  Entrypoint: string[]
  Cmd: string[]
  WorkingDir: string
  Volumes: Record<string, unknown>
  StopSignal: NodeJS.Signals
  Healthcheck: { Test: string[] }
}

/** An unpacked image. */
export interface Image {
  config: ImageConfig
  /** The folder of its files. */
  files: string
  /** The size of all files, in megabytes. `baseSize` is that of the base image's files alone. */
  size: number
  baseSize: number
  /** Builds the image again, with another value of the argument `POSTGRES`. */
  rebuild(postgres: string): Promise<Image>
}

/** A running container. */
export interface RunningContainer extends Output {
  /** Runs a program in the container as the image's user. Returns the output. */
  exec(...programAndArguments: string[]): Promise<string>
  /** Sends the image's stop signal, and kills a container that still runs after this many seconds. Returns its exit code. */
  stop(seconds: number): Promise<number | null>
  /** Resolves with the exit code when the container ends. */
  exited: Promise<number | null>
}

export interface ContainerOptions {
  /** The settings, as environment variables. */
  settings: Record<string, string>
  /** The program, in place of the image's command. */
  command?: string[]
  /** A folder in place of the image's `/app`, which makes it the image of another version. */
  app?: string | undefined
}

/**
 * Builds an image with buildah, which needs no daemon. No image registry is available, so the base is a stand-in: Debian's
 * smallest system with npm's Node.js, npm and the user `node`, under the name in the Dockerfile.
 *
 * @param context The folder that holds `deploy/Dockerfile`.
 * @param directory An empty directory for all files of the build.
 * @param postgres The value of the image's argument `POSTGRES`.
 * @throws {Error} A program is missing. The message says what to install.
 */
export async function buildImage(context: string, directory: string, postgres: string): Promise<Image> {
  for (const name of ['buildah', 'debootstrap', 'runc']) findProgram(name)
  const dockerfile = join(context, 'deploy', 'Dockerfile')
  const [, base = '', major = '', codename = ''] =
    /^FROM (node:(\d+)-(\w+)-slim)$/m.exec(await readFile(dockerfile, 'utf8')) ?? []
  const storage = ['--root', join(directory, 'storage'), '--runroot', join(directory, 'run')]
  const buildah = async (...options: string[]) =>
    (await run('buildah', ['--storage-driver', 'vfs', ...storage, ...options], { maxBuffer: 2 ** 26 })).stdout
  const system = join(directory, 'system')
  await makeSystem(system, codename, major)
  await writeFile(join(directory, 'Dockerfile'), `FROM scratch\nCOPY system /\n`)
  const build = ['build', '--quiet', '--isolation', 'chroot', '--format', 'docker', '--pull=false']
  await buildah(...build, '-t', base, '-f', join(directory, 'Dockerfile'), directory)
  const baseSize = await sizeOf(system)
  await rm(system, { recursive: true })

  const buildWith = async (argument: string): Promise<Image> => {
    const options = [...build, ...(await machineVolumes(directory)), '--build-arg', `POSTGRES=${argument}`]
    await buildah(...options, '-t', 'unplugged', '-f', dockerfile, context)
    const container = (await buildah('from', '--pull=false', 'unplugged')).trim()
    const files = (await buildah('mount', container)).trim()
    const { Docker } = JSON.parse(await buildah('inspect', container)) as { Docker: { config: ImageConfig } }
    return { config: Docker.config, files, size: await sizeOf(files), baseSize, rebuild: buildWith }
  }
  return buildWith(postgres)
}

async function makeSystem(directory: string, codename: string, major: string) {
  const { stdout } = await run('apt-get', [
    'indextargets',
    '--format',
    '$(REPO_URI)',
    `Codename: ${codename}`,
  ])
  const [mirror = ''] = stdout.split('\n')
  await run('debootstrap', ['--variant=minbase', codename, directory, mirror], { maxBuffer: 2 ** 26 })
  // Docker's images of Debian do not have these folders either.
  await run('rm', ['-r', join(directory, 'var/lib/apt/lists'), join(directory, 'var/cache/apt/archives')])
  const prefix = join(directory, 'usr', 'local')
  const node = `node-linux-${process.arch}`
  await run('npm', ['install', '--global', '--prefix', prefix, `${node}@${major}`, 'npm@10'])
  // npm looks for its settings beside the program itself, not beside a link to it.
  const program = join(prefix, 'bin', 'node')
  await run('cp', ['--remove-destination', join(prefix, 'lib', 'node_modules', node, 'bin', 'node'), program])
  await rm(join(prefix, 'lib', 'node_modules', node), { recursive: true })
  await run('chroot', [directory, 'useradd', '--create-home', '--uid', '1000', 'node'])
}

/**
 * This machine's settings for Debian's mirror and npm's registry, which a build needs. The image does not get them. Packages write
 * into the folders, so these are copied.
 */
async function machineVolumes(directory: string) {
  const copies = await mkdtemp(join(directory, 'machine-'))
  const folders = ['/etc/apt', '/etc/ssl/certs']
  for (const folder of folders)
    await cp(folder, join(copies, folder), { recursive: true, verbatimSymlinks: true })
  const setting = async (name: string) => (await run('npm', ['config', 'get', name])).stdout.trim()
  // By the path in the build, the path on this machine.
  const files = {
    '/root/.npmrc': await setting('userconfig'),
    '/usr/local/etc/npmrc': await setting('globalconfig'),
  }
  return [
    ...folders.map((folder) => `${join(copies, folder)}:${folder}`),
    ...Object.entries(files)
      .filter(([, source]) => existsSync(source))
      .map(([destination, source]) => `${source}:${destination}:ro`),
  ].flatMap((volume) => ['--volume', volume])
}

/**
 * Runs an image with runc, as Docker does: as the image's user, without capabilities, with a read-only root, and with limits on
 * memory and processes. Its network is this machine's.
 *
 * @param directory The folder of the image's volumes, which are created if they are missing.
 */
export async function startContainer(
  { config, files }: Image,
  directory: string,
  { settings, command = config.Cmd, app }: ContainerOptions,
): Promise<RunningContainer> {
  const name = `unplugged-${process.pid}`
  const [, uid = '', gid = ''] =
    new RegExp(`^${config.User}:x:(\\d+):(\\d+)`, 'm').exec(
      await readFile(join(files, 'etc', 'passwd'), 'utf8'),
    ) ?? []
  const volumes = await Promise.all(
    Object.keys(config.Volumes).map(async (destination) => {
      const source = join(directory, destination)
      await mkdir(source, { recursive: true, mode: 0o700 })
      await chown(source, Number(uid), Number(gid))
      return { destination, type: 'bind', source, options: ['rbind', 'rw'] }
    }),
  )
  const tmpfs = (destination: string) => ({
    destination,
    type: 'tmpfs',
    source: 'tmpfs',
    options: ['nosuid', 'nodev', 'mode=1777', 'size=64m'],
  })
  const bundle = {
    ociVersion: '1.0.2',
    root: { path: files, readonly: true },
    process: {
      user: { uid: Number(uid), gid: Number(gid) },
      cwd: config.WorkingDir,
      args: [...config.Entrypoint, ...command],
      env: [...config.Env, ...Object.entries(settings).map(([key, value]) => `${key}=${value}`)],
      capabilities: {},
      noNewPrivileges: true,
    },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      { ...tmpfs('/dev'), options: ['nosuid', 'mode=755', 'size=64k'] },
      tmpfs('/dev/shm'),
      tmpfs('/tmp'),
      ...volumes,
      ...(app === undefined
        ? []
        : [{ destination: config.WorkingDir, type: 'bind', source: app, options: ['rbind', 'ro'] }]),
    ],
    linux: {
      cgroupsPath: name,
      namespaces: ['pid', 'mount', 'ipc', 'uts'].map((type) => ({ type })),
      resources: { memory: { limit: 2 ** 30 }, pids: { limit: 256 } },
    },
  }
  await writeFile(join(directory, 'config.json'), JSON.stringify(bundle))
  const runc = ['--root', join(directory, 'runc')]
  const child = spawn('runc', [...runc, 'run', '--bundle', directory, name], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  endWithTest(child)
  const exited = once(child, 'exit') as Promise<[number | null]>
  return {
    ...outputOf(child),
    exited: exited.then(([code]) => code),
    async exec(...programAndArguments) {
      return (await run('runc', [...runc, 'exec', name, ...programAndArguments])).stdout
    },
    async stop(seconds) {
      const kill = (signal: string) => run('runc', [...runc, 'kill', name, signal])
      await kill(config.StopSignal)
      const killTimer = setTimeout(() => void kill('SIGKILL'), seconds * 1000)
      const [code] = await exited
      clearTimeout(killTimer)
      return code
    },
  }
}
