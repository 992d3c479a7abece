import { execFile } from 'node:child_process'
import { cp, rm, symlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import fastifyStatic from '@fastify/static'
import fastify, { type FastifyInstance } from 'fastify'

import { readPageSettings } from '../../src/settings/build-settings.ts'
import { compressSite, writeStaticSite } from '../../tools/static-site.ts'
import { atTestEnd } from './cleanup.ts'

/** Copies this checkout into an empty directory, for a build there. Returns the directory. */
export async function copyCheckout(directory: string): Promise<string> {
  const excluded = new Set(
    ['.git', 'node_modules', 'dist', 'build', 'data', 'release', 'screenshots', '.env'].map((name) =>
      resolve(name),
    ),
  )
  await cp('.', directory, { recursive: true, filter: (source) => !excluded.has(resolve(source)) })
  await symlink(resolve('node_modules'), join(directory, 'node_modules'))
  return directory
}

/** Builds the copy in this directory for a hosted project, with these `VITE_` settings. */
export async function buildCopy(directory: string, settings: Record<string, string>): Promise<void> {
  const { PATH = '', HOME = '' } = process.env
  await promisify(execFile)('npm', ['run', 'build'], { cwd: directory, env: { PATH, HOME, ...settings } })
}

/**
 * Writes the static site that `npm run build` with these `VITE_` settings would write, from the build that the test run has made.
 *
 * @param directory An existing directory.
 * @returns The folder of the static files.
 */
export async function writeSite(directory: string, settings: Record<string, string>): Promise<string> {
  const dist = join(directory, 'dist')
  await rm(dist, { recursive: true, force: true })
  await cp('dist', dist, { recursive: true })
  await writeStaticSite(readPageSettings(settings), { build: 'build', dist })
  await compressSite({ dist })
  return dist
}

/**
 * Makes a foreign host of static files. It does not listen yet, so a test may add routes.
 *
 * @param root The folder of the files.
 * @param prefixes The paths that they are served under.
 */
export async function staticHost(root: string, ...prefixes: string[]): Promise<FastifyInstance> {
  // A browser connects ahead of its requests. Without this option, closing would wait for such a connection for ever.
  const host = fastify({ forceCloseConnections: true })
  for (const [index, prefix] of prefixes.entries()) {
    await host.register(fastifyStatic, { root, prefix, decorateReply: index === 0 })
  }
  atTestEnd(() => host.close())
  return host
}
