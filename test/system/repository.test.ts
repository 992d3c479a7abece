import { validateWorkflow } from '@action-validator/core'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

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
  'in $name actions are pinned by commit, the token may only read, and each job has a timeout',
  ({ text }) => {
    const actions = text.match(/(?<=uses: ).*/g) ?? []
    expect(actions).not.toEqual([])
    expect(
      actions.filter((action) => !/^actions\/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action)),
    ).toEqual([])
    expect(text.match(/permissions:.*\n(?: +.*\n)*/g)).toEqual(['permissions:\n  contents: read\n'])
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
