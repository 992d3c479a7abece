import type { Break } from './break.ts'

/** Deliberate breaks of the promises about what the server withstands. */
export const server: readonly Break[] = [
  {
    promise: 'large bodies and headers',
    effect: 'A body may be twice as large',
    changedFile: 'src/server/http/request-limits.ts',
    find: 'bodyLimit: 256 * 1024',
    replace: 'bodyLimit: 512 * 1024',
    testFile: 'test/system/attacks/unwelcome.test.ts',
    testTitle: 'a body over 256 KiB is refused in the error format of the data interface',
  },
  {
    promise: 'many large bodies at once',
    effect: 'Large bodies do not wait for each other',
    changedFile: 'src/server/http/large-requests.ts',
    find: 'next = performance.now() + pause + size / pace',
    replace: 'next = performance.now()',
    testFile: 'src/server/http/large-requests.test.ts',
    testTitle: 'large bodies are queued for a second at most, or else refused; small ones do not wait',
  },
  {
    promise: 'responses that nobody reads',
    effect: 'A refused form is sent back with answers of any size',
    changedFile: 'src/server/pages/page.ts',
    find: 'maxEchoedLength = 16 * 1024',
    replace: 'maxEchoedLength = 16 * 1024 * 1024',
    testFile: 'test/system/attacks/hostile.test.ts',
    testTitle:
      'a refused form comes back with its form answers, or only with the error message if these are too long',
  },
  {
    promise: 'clients that are refused and continue to send',
    effect: 'The body of a refused request is read at full speed up to 64 MB',
    changedFile: 'src/server/http/unread.ts',
    find: `const maxDrainedBytes = 1024 * 1024
/** Bytes of a refused request that are read in a millisecond, so that sending more does not keep the server busy. */
const pace = 1024
`,
    replace: `const maxDrainedBytes = 64 * 1024 * 1024
const pace = Infinity
`,
    testFile: 'src/server/http/unread.test.ts',
    testTitle: 'an endless request is read only up to a limit',
  },
  {
    promise: 'slow requests',
    effect: 'A request has no timeout',
    changedFile: 'src/server/http/request-limits.ts',
    find: 'connectionsCheckingInterval: 5_000',
    replace: 'connectionsCheckingInterval: 5_000_000',
    testFile: 'test/system/attacks/fuzz.test.ts',
    testTitle: 'a request that is sent too slowly gets a timeout, and other requests do not wait for it',
  },
  {
    promise: 'floods from one network address',
    effect: 'An array of rows counts as one request',
    changedFile: 'src/server/http/rate-limiter.ts',
    find: 'const wait = take(address, rows)',
    replace: 'const wait = take(address, Math.min(rows, 1))',
    testFile: 'src/server/http/rate-limiter.test.ts',
    testTitle: 'each row of an array counts against the limit',
  },
  {
    promise: 'wrong tokens of letters',
    effect: 'Wrong tokens are not counted',
    changedFile: 'src/server/rest/data-interface.ts',
    find: "if (called.parameters.has('token') && isInvalid(result)) countWrongToken(request.ip)",
    replace: 'void countWrongToken, isInvalid',
    testFile: 'src/server/rest/data-interface.test.ts',
    testTitle:
      'wrong tokens of links have a separate limit per address, which blocks no valid token and no application',
  },
  {
    promise: 'consent that nobody gave',
    effect: 'Any value of the checkbox counts as consent',
    changedFile: 'src/application/application.ts',
    find: "sent[column] === 'true' : answer(column)",
    replace: 'sent[column] !== undefined : answer(column)',
    testFile: 'src/application/application.test.ts',
    testTitle: 'consent is what the checkbox sends, and not "%s"',
  },
  {
    promise: 'forged network addresses',
    effect: 'Every X-Forwarded-For is trusted',
    changedFile: 'src/server/app.ts',
    find: '(_address, hop) => hop < trustProxy : trustProxy',
    replace: '() => true : trustProxy',
    testFile: 'test/system/attacks/unwelcome.test.ts',
    testTitle:
      'X-Forwarded-For is trusted only if TRUST_PROXY is set, and otherwise logged once as a warning',
  },
  {
    promise: 'endless form answers',
    effect: 'Answers may be twice as long',
    changedFile: 'supabase/schemas/01_applications.sql',
    find: 'if char_length(answer.value) > answer.max_length then',
    replace: 'if char_length(answer.value) > 2 * answer.max_length then',
    testFile: 'src/server/rest/data-interface.test.ts',
    testTitle:
      '%s accepts as many characters as its limit, regardless of their bytes; the error for a longer text names the limit',
  },
  {
    promise: 'anything that a visitor writes into `?from=`',
    effect: 'Any text after from= becomes a source',
    changedFile: 'src/server/pages/visits.ts',
    find: "typeof from === 'string' && name.test(from) ?",
    replace: "typeof from === 'string' ?",
    testFile: 'src/server/pages/visits.test.ts',
    testTitle: 'the source of ?%s is "%s"',
  },
  {
    promise: 'anything that a visitor writes into `?from=`',
    effect: 'A server holds every source that a flood names',
    changedFile: 'src/server/pages/visits.ts',
    find: 'const maxSources = 1_000',
    replace: 'const maxSources = 1_000_000',
    testFile: 'src/server/pages/visits.test.ts',
    testTitle: '10,000 different sources become a thousand and `other`, and nothing but counts is saved',
  },
  {
    promise: 'anything that a visitor writes into `?from=`',
    effect: 'Each batch may add 200 more names to a day',
    changedFile: 'supabase/schemas/23_visits.sql',
    find: 'select 200 - count(*) into room',
    replace: 'select 200 into room',
    testFile: 'test/database/retreat/visits.test.ts',
    testTitle: 'a day has at most 200 names, over all servers; the rest count as `other`',
  },
  {
    promise: 'applications that are costly to search in',
    effect: 'A search folds long answers without end',
    changedFile: 'supabase/schemas/06_finding.sql',
    find: 'or octets_left <= 0 or',
    replace: 'or',
    testFile: 'test/database/desk/desk.test.ts',
    testTitle:
      'after two hundred applications with costly texts, a search or a count folds less than ten times as much text as before',
  },
  {
    promise: "anonymous calls of the desk's functions",
    effect: 'Anonymous calls of the desk’s functions reach the database',
    changedFile: 'src/server/rest/data-interface.ts',
    find: `    if (caller.role === 'anon' && !called.isPublic) throw permissionDenied(request, \`function \${name}\`)
`,
    replace: '',
    testFile: 'src/server/rest/rpc.test.ts',
    testTitle: 'a function that the public key may not call is refused before it reaches the database',
  },
  {
    promise: 'nonsense',
    effect: 'A request that PostgreSQL refuses gets a 500',
    changedFile: 'src/server/http/errors.ts',
    find: `  return 400
}`,
    replace: `  return 500
}`,
    testFile: 'test/system/attacks/fuzz.test.ts',
    testTitle:
      "${pipelines} connections with nonsense requests never get a 5xx, a stack trace or another applicant's data",
  },
  {
    promise: 'a database whose connections are ended, cut in a row, killed or frozen, under load',
    effect: 'Two callers share a connection',
    changedFile: 'src/server/database/pool.ts',
    find: 'idle.splice(index, 1)',
    replace: 'idle.slice(index, index + 1)',
    testFile: 'src/server/database/pool.test.ts',
    testTitle: 'concurrent statements have a connection each, and the next statement reuses one of them',
  },
  {
    promise: 'a database that is frozen, or a connection to it that passes nothing on',
    effect: 'A statement continues in the database after its timeout',
    changedFile: 'src/server/database/connection.ts',
    find: `    cancel(this.#client)
`,
    replace: '',
    testFile: 'src/server/database/pool.test.ts',
    testTitle:
      'a statement that misses its deadline fails and is cancelled in the database, and no other statement is',
  },
  {
    promise: 'other users of the machine',
    effect: 'Backups are written to a folder that everybody may write to',
    changedFile: 'src/server/backups/folder.ts',
    find: "return refuseWritableByOthers('BACKUP_DIR', dir, [rootUser])",
    replace: "return refuseWritableByOthers('BACKUP_DIR', dir + '/nowhere', [rootUser])",
    testFile: 'test/system/failures/backups-unresponsive.test.ts',
    testTitle: 'a start refuses a backup folder that others may write to, and a running server reports it',
  },
  {
    promise: '**`POSTGRES_BIN` runs code**',
    effect: 'The server runs programs that other users may write to',
    changedFile: 'src/server/database/programs.ts',
    find: 'if ((stats.mode & 0o022) !== 0)',
    replace: 'if ((stats.mode & 0o022) === 0o777)',
    testFile: 'src/server/database/programs.test.ts',
    testTitle:
      'programs that are missing, open to changes by others, or of another version are refused with the reason',
  },
  {
    promise: 'a disk of backups that does not respond',
    effect: 'Each read of an unresponsive backup folder blocks another thread',
    changedFile: 'src/server/backups/file-work.ts',
    find: 'if (isStuck) throw timeoutError()',
    replace: 'if (isStuck && timeout < 0) throw timeoutError()',
    testFile: 'src/server/backups/file-work.test.ts',
    testTitle: 'work that hangs times out, no other work begins until it ends, and later work succeeds',
  },
  {
    promise: 'a disk of the database that is not mounted',
    effect: 'A new database is made although the folder has backups of another database',
    changedFile: 'src/server/backups/scheduled.ts',
    find: `if (newest === undefined) return
      throw`,
    replace: `if (newest === undefined || dir !== '') return
      throw`,
    testFile: 'test/system/failures/files-gone.test.ts',
    testTitle:
      'only a first start makes a database and says so, and a start without a database but with its backups is refused',
  },
  {
    promise: 'eavesdroppers between the server and `DATABASE_URL`',
    effect: 'If TLS is required but not available, the connection is not encrypted',
    changedFile: 'src/server/database/address.ts',
    find: "if (mode === 'allow' || mode === 'prefer') return 'prefer'",
    replace: "if (mode !== 'verify-full') return 'prefer'",
    testFile: 'src/server/database/address.test.ts',
    testTitle: 'TLS: %s',
  },
]
