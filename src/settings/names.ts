/** Every setting's name. */
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
  'WEBHOOK_PER_MINUTE',
  'WEBHOOK_DECISIONS_URL',
  'RATE_LIMIT_PER_MINUTE',
  'SECURITY_CONTACT',
  'TRUST_PROXY',
  'SITE_URL',
  'SITE_TITLE',
  'SITE_TAGLINE',
  'SITE_BADGE',
  'SITE_SUCCESS',
  'SITE_PRIVACY_URL',
  'SITE_ACCENT',
  'SMTP_URL',
  'MAIL_FROM',
  'MAIL_PER_MINUTE',
  'BACKUP_DIR',
  'BACKUP_AT',
  'BACKUP_KEEP',
  'LOG_LEVEL',
  'METRICS_ADDRESS',
  'VITE_SUPABASE_URL',
  'VITE_SUPABASE_ANON_KEY',
  'VITE_WEBHOOK_URL',
  'VITE_SITE_URL',
  'VITE_SITE_TITLE',
  'VITE_SITE_TAGLINE',
  'VITE_SITE_BADGE',
  'VITE_SITE_SUCCESS',
  'VITE_SITE_PRIVACY_URL',
  'VITE_SITE_ACCENT',
]

/** The settings whose value may be in a file that `NAME_FILE` names. Those of a build are public. */
export const settingsFromFiles: readonly string[] = settingNames.filter((name) => !name.startsWith('VITE_'))

/** Settings that may hold a secret. */
export const secretNames = [
  'DATABASE_URL',
  'WEBHOOK_URL',
  'WEBHOOK_DECISIONS_URL',
  'WEBHOOK_SECRET',
  'SMTP_URL',
]

/** Prefixes and names that only our settings have. */
const ownPrefix =
  /^(WEBHOOK|SMTP|(MAIL|BACKUP|RATE_LIMIT|TRUST_PROXY|SITE_URL|DATABASE_URL|DATABASE_POOLER|DATA_DIR|POSTGRES_BIN).)/
/** Settings of Node.js, the pager and PostgreSQL's library, which may be in the settings file too. */
const ofOtherPrograms = /^(NODE_|npm_|PG|LC_|OPENSSL_|SSL_CERT_|TZ$|LANG$|PAGER$|LESS$|PATH$|HOME$)/
/** The most typos in a setting's name of this length: short names are too similar to other programs' names. */
const maxTypos = (length: number) => (length < 6 ? 0 : length < 9 ? 1 : 2)

/**
 * Reports a name that is no setting, if somebody may have meant a setting by it.
 *
 * @param isInFile Whether the name is in our own settings file, where every name should be a setting.
 * @returns A sentence that says what is wrong; undefined if the name is a setting, or another program's.
 */
export function problemWithName(name: string, isInFile: boolean): string | undefined {
  const ending = name.endsWith('_FILE') ? '_FILE' : ''
  const setting = name.slice(0, name.length - ending.length)
  const known = ending === '' ? settingNames : settingsFromFiles
  if (known.includes(setting) || ofOtherPrograms.test(name)) return undefined
  const upper = setting.toUpperCase().replaceAll('-', '_')
  const [likely] = known
    .map((each) => ({ each, typos: distance(upper, each) }))
    .filter(({ each, typos }) => typos <= maxTypos(each.length))
    .toSorted((a, b) => a.typos - b.typos)
  const isOurs = isInFile || ownPrefix.test(name)
  const meant = likely?.each ?? (isOurs ? known.find((each) => each.startsWith(`${upper}_`)) : undefined)
  if (meant !== undefined) return `${name} is no setting: ${meant}${ending} is.`
  return isOurs ? `${name} is no setting.` : undefined
}

/** The edit distance: how many letters have to be added, removed or replaced, or neighbours swapped. */
function distance(one: string, other: string) {
  let previous = Array.from({ length: other.length + 1 }, (_, index) => index)
  let beforePrevious = previous
  for (const [row, letter] of Array.from(one).entries()) {
    const next = [row + 1]
    for (const [column, expected] of Array.from(other).entries()) {
      const replaced = (previous[column] ?? 0) + (letter === expected ? 0 : 1)
      // The first letter has no letter before it, so it is never swapped.
      const isSwapped = letter === other[column - 1] && one[row - 1] === expected
      const swapped = isSwapped ? (beforePrevious[column - 1] ?? 0) + 1 : Infinity
      next.push(Math.min(replaced, swapped, (previous[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    beforePrevious = previous
    previous = next
  }
  return previous.at(-1) ?? 0
}
