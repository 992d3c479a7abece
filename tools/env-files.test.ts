import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'

import { readEnvironment } from './env-files.ts'

/** A folder with these settings files. */
function folderWith(files: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'unplugged-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

test('a build reads .env as the server does, then the files of Vite, then the environment', () => {
  const folder = folderWith({
    '.env': '\uFEFFVITE_A=first\nVITE_B=costs $VITE_A\nVITE_C=c\nVITE_D=d\nVITE_E=e\n',
    '.env.local': 'VITE_C=local\n',
    '.env.production': 'VITE_D=production\n',
    '.env.development': 'VITE_D=development\n',
  })
  vi.stubEnv('VITE_E', 'environment')
  onTestFinished(() => void vi.unstubAllEnvs())
  expect(readEnvironment('production', folder)).toMatchObject({
    VITE_A: 'first',
    VITE_B: 'costs $VITE_A',
    VITE_C: 'local',
    VITE_D: 'production',
    VITE_E: 'environment',
  })
})

test('a build refuses a colour that a file cuts at its #, and ignores a folder named .env', () => {
  const folder = folderWith({ '.env.local': 'VITE_SITE_ACCENT="#7a1f3d"\nSITE_ACCENT=#7a1f3d\n' })
  mkdirSync(join(folder, '.env'))
  expect(readEnvironment('production', folder)).toMatchObject({ VITE_SITE_ACCENT: '#7a1f3d' })
  writeFileSync(join(folder, '.env.local'), ' export VITE_SITE_ACCENT = #7a1f3d\n')
  expect(() => readEnvironment('production', folder)).toThrow(
    'VITE_SITE_ACCENT in .env.local ends before its sign #, which begins a comment: put the value in quotes.',
  )
})
