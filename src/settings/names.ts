/** Every name that an operator can set. */
export const settingNames = [
  'PORT',
  'HOST',
  'DATA_DIR',
  'DATABASE_URL',
  'DATABASE_POOLER',
  'POSTGRES_BIN',
  'ANON_KEY',
  'WEBHOOK_URL',
  'WEBHOOK_SECRET',
  'WEBHOOK_DECISIONS_URL',
  'RATE_LIMIT_PER_MINUTE',
  'TRUST_PROXY',
  'SITE_URL',
  'SMTP_URL',
  'MAIL_FROM',
  'MAIL_PER_MINUTE',
  'BACKUP_DIR',
  'BACKUP_AT',
  'BACKUP_KEEP',
  'VITE_SUPABASE_URL',
  'VITE_SUPABASE_ANON_KEY',
  'VITE_WEBHOOK_URL',
  'VITE_SITE_URL',
]

/** Those that may hold a secret. */
export const secretNames = [
  'DATABASE_URL',
  'WEBHOOK_URL',
  'WEBHOOK_DECISIONS_URL',
  'WEBHOOK_SECRET',
  'SMTP_URL',
]

/** Beginnings of our names, and names, that no other program's name has. */
const ownPrefix =
  /^(WEBHOOK|SMTP|(MAIL|BACKUP|RATE_LIMIT|TRUST_PROXY|SITE_URL|DATABASE_URL|DATABASE_POOLER|DATA_DIR|POSTGRES_BIN).)/
/** Settings of Node.js, the pager and PostgreSQL's library, which may also stand in the file of settings. */
const ofOthers = /^(NODE_|npm_|PG|LC_|OPENSSL_|SSL_CERT_|TZ$|LANG$|PAGER$|LESS$|PATH$|HOME$)/
/** How many mistakes a name of this length may have. A short name is too close to other programs' names. */
const mistakes = (length: number) => (length < 6 ? 0 : length < 9 ? 1 : 2)

/**
 * Tells of a name that is no setting, where somebody may have meant one.
 *
 * @param isInFile Whether it stands in our own file of settings, where every name should be a setting.
 * @returns A sentence that says what is wrong; nothing where it is a setting, or another program's.
 */
export function unknownName(name: string, isInFile: boolean): string | undefined {
  if (settingNames.includes(name) || ofOthers.test(name)) return undefined
  const upper = name.toUpperCase().replaceAll('-', '_')
  const [likely] = settingNames
    .map((known) => ({ known, off: distance(upper, known) }))
    .filter(({ known, off }) => off <= mistakes(known.length))
    .toSorted((a, b) => a.off - b.off)
  const isOurs = isInFile || ownPrefix.test(name)
  const meant =
    likely?.known ?? (isOurs ? settingNames.find((known) => known.startsWith(`${upper}_`)) : undefined)
  if (meant !== undefined) return `${name} is no setting: ${meant} is.`
  return isOurs ? `${name} is no setting.` : undefined
}

/** How many letters have to be added, removed or replaced, or neighbours swapped, to turn one word into the other. */
function distance(one: string, other: string) {
  let former = Array.from({ length: other.length + 1 }, (_, index) => index)
  let beforeFormer = former
  for (const [row, letter] of Array.from(one).entries()) {
    const next = [row + 1]
    for (const [column, expected] of Array.from(other).entries()) {
      const replaced = (former[column] ?? 0) + (letter === expected ? 0 : 1)
      // Before the first letter there is none, which no letter equals.
      const isSwapped = letter === other[column - 1] && one[row - 1] === expected
      const swapped = isSwapped ? (beforeFormer[column - 1] ?? 0) + 1 : Infinity
      next.push(Math.min(replaced, swapped, (former[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    beforeFormer = former
    former = next
  }
  return former.at(-1) ?? 0
}
