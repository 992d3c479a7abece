/** Begins to start the PostgreSQL of a worker before the first test file. The file's modules are loaded meanwhile. */
import { workerPostgres } from '../worker-postgres.ts'

// The tests wait for it, and so have its errors.
workerPostgres().catch(() => {})
