import { OperatorError } from '../../../settings/operator-error.ts'
import { tablesCopiedBy, type Migration } from './migration-files.ts'
import type { Sql } from '../connection/sql.ts'

/** The disk space of copied rows per byte of the originals, including indexes. Measured: 1.24 (docs/benchmarks.md). */
const copyFactor = 1.5
/** Bytes for everything else that an update writes: functions, catalogs, a new WAL segment. */
const minUpdateBytes = 64 * 2 ** 20

/** The bytes of disk that an update needs, and the free bytes, which are undefined if the database is on another machine. */
export interface DiskSpace {
  needed: number
  free: number | undefined
}

/** Estimates the disk space that migrations need temporarily: copied rows exist twice, and PostgreSQL writes them to its WAL. */
export async function diskSpaceFor(
  sql: Sql,
  missing: readonly Migration[],
  free?: () => Promise<number>,
): Promise<DiskSpace> {
  const tables = missing.flatMap(tablesCopiedBy)
  const [{ original, wal }] = await sql<[{ original: number; wal: number }]>`
    select coalesce(sum(pg_total_relation_size(to_regclass(name))), 0)::float8 as original,
      pg_size_bytes(current_setting('max_wal_size'))::float8 as wal
    from unnest(${tables}::text[]) as name`
  const copies = copyFactor * original
  return {
    needed: tables.length === 0 ? 0 : copies + Math.min(copies, wal) + minUpdateBytes,
    free: await free?.(),
  }
}

/** @throws {OperatorError} if fewer bytes are free than are needed. */
export function refuseFullDisk({ needed, free }: DiskSpace): void {
  if (free === undefined || free >= needed) return
  throw new OperatorError(
    `The update needs ${megabytes(needed)} of disk for a while, and ${megabytes(free)} are free where DATA_DIR is: make room there and start again; nothing was changed.`,
  )
}

/** Formats bytes as megabytes, rounded up. */
export const megabytes = (bytes: number) => `${Math.ceil(bytes / 2 ** 20).toLocaleString('en')} MB`
