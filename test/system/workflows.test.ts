import { validateWorkflow } from '@action-validator/core'
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

import { temporaryDirectory } from '../support/server.ts'

// GitHub's workflow files of this repository.

const folder = join('.github', 'workflows')
const workflows = readdirSync(folder).map((name) => ({
  name,
  text: readFileSync(join(folder, name), 'utf8'),
}))

test.each(workflows)('GitHub can read the workflow $name', ({ text }) => {
  expect(validateWorkflow(text)).toMatchObject({ errors: [] })
})

test.each(workflows)(
  'in $name actions are pinned by commit, the token may only read except to publish, and each job has a timeout',
  ({ name, text }) => {
    const actions = text.match(/(?<=uses: ).*/g) ?? []
    expect(actions).not.toEqual([])
    expect(
      actions.filter((action) => !/^actions\/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action)),
    ).toEqual([])
    expect(text.match(/^permissions:.*\n(?: +.*\n)*/gm)).toEqual(['permissions:\n  contents: read\n'])
    expect(text.match(/(?<=: )write$/gm)?.length ?? 0).toBe(name === 'publish.yml' ? 2 : 0)
    expect(text.match(/timeout-minutes: \d+/g)).toHaveLength(text.match(/runs-on:/g)?.length ?? 0)
  },
)

test('each command of a workflow exists', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }
  const commands = workflows.flatMap(
    ({ text }) => text.match(/(?<=npm run )[\w:]+(?![\w:]| --if-present)/g) ?? [],
  )
  expect(commands).toContain('test:long')
  expect(commands.filter((name) => !(name in scripts))).toEqual([])
})

/** A program that records its arguments, and the token that it reads. In place of a run, it makes the files of an archive. */
const recorder = (calls: string) => `#!/bin/sh
echo "$(basename "$0")" "$@" >> ${calls}
case "$1" in
  run)
    mkdir -p release product/deploy && touch product/deploy/Dockerfile
    tar czf release/unplugged-1.3.0.tgz product && touch release/unplugged-1.3.0.cdx.json
    cd release && sha256sum unplugged-1.3.0.tgz > unplugged-1.3.0.tgz.sha256 ;;
  build) test -e "$4" ;;
  login) read -r token && test "$token" = secret ;;
esac
`

test('a tag is published with its image, archive, checksum and list of packages, and only if it is that of the version', async () => {
  const { path } = await temporaryDirectory()
  const calls = join(path, 'calls')
  const programs = join(path, 'programs')
  for (const each of ['.ci', 'programs']) await mkdir(join(path, each))
  for (const program of ['docker', 'gh'])
    await writeFile(join(programs, program), recorder(calls), { mode: 0o755 })
  await copyFile(resolve('.ci/publish'), join(path, '.ci', 'publish'))
  await writeFile(join(path, 'package.json'), '{"version":"1.3.0"}')
  await writeFile(
    join(path, 'CHANGELOG.md'),
    '# Changes\n\n## 1.3.0 - 2026-12-01\n\n- New.\n\n## 1.2.0 - 2026-11-27\n\n- Old.\n',
  )
  const publish = (tag: string) =>
    promisify(execFile)(join(path, '.ci', 'publish'), {
      env: {
        PATH: `${programs}:${process.env['PATH']}`,
        GITHUB_REF_NAME: tag,
        GITHUB_REPOSITORY: 'Ada/unplugged',
        GITHUB_ACTOR: 'ada',
        GH_TOKEN: 'secret',
      },
    })
  await expect(publish('v1.3.1')).rejects.toMatchObject({
    code: 1,
    stderr: 'The tag v1.3.1 is of version 1.3.0: make tags with npm run release, which sets the version.\n',
  })
  await publish('v1.3.0')
  const image = 'ghcr.io/ada/unplugged:1.3.0'
  const files = ['.tgz', '.tgz.sha256', '.cdx.json'].map((ending) => `release/unplugged-1.3.0${ending}`)
  const made = (await readFile(calls, 'utf8')).replaceAll(/\/tmp\/tmp\.\w+/g, '<unpacked>').split('\n')
  expect(made).toEqual([
    `docker run --rm --volume ${path}:/product --workdir /product node:24-bookworm sh -c npm ci && npm run archive`,
    `docker build --pull --file <unpacked>/deploy/Dockerfile --tag ${image} <unpacked>`,
    'docker login ghcr.io --username ada --password-stdin',
    `docker push ${image}`,
    `gh release create v1.3.0 ${files.join(' ')} --verify-tag --title 1.3.0 --notes `,
    '- New.',
    '',
  ])
})

test('the unit of the doctor is as hardened as that of the server, and the timer and the alarm exist', () => {
  const read = (name: string) => readFileSync(join('deploy', name), 'utf8')
  const hardening = (unit: string) =>
    unit.slice(unit.indexOf('UMask=')).split('\n\n')[0]?.trim().split('\n') ?? []
  const doctor = read('unplugged-doctor.service')
  const own = hardening(doctor).filter((line) => !line.startsWith('ReadWritePaths='))
  const expected = hardening(read('unplugged.service')).filter((line) => !line.startsWith('ReadWritePaths='))
  expect(own.length).toBeGreaterThan(10)
  expect(own).toEqual(expected)
  expect(read(/OnFailure=(.*)/.exec(doctor)?.[1] ?? '')).toContain('ExecStart=')
  expect(read('unplugged-doctor.timer')).toContain('OnCalendar=')
})
