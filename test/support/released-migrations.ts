import { migrations, type Migration } from '../../src/server/database/schema/migration-files.ts'

/**
 * The last migration of each release whose databases are migrated by tests. Later migrations belong to no release yet, and may
 * still change.
 */
export const lastMigrations = {
  '1.0.0': '20261124110300',
  '1.0.1': '20261125000100',
  '1.1.0': '20261126000400',
  '1.2.0': '20261127070300',
  '1.2.1': '20261129174157',
} as const

/** The migrations of a release. */
export function migrationsOf(release: keyof typeof lastMigrations): Migration[] {
  return migrations.filter(({ version }) => version <= lastMigrations[release])
}
