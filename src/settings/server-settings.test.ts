import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { expect, test } from 'vitest'

import { hostAndPort } from './mail-settings.ts'
import { readSettings } from './server-settings.ts'

/** A secret of this many bytes. */
const secretOf = (bytes: number) => `whsec_${Buffer.alloc(bytes, 7).toString('base64')}`

/** The second column of the settings' table, by the names in the first. */
async function defaultsOfDocs() {
  const rows = [
    ...(await readFile('docs/operate.md', 'utf8')).matchAll(/^\| (`[A-Z_]+`(?:, `[A-Z_]+`)*) \| (.*?) \|/gm),
  ]
  return Object.fromEntries(
    rows.flatMap(([, names = '', defaults = '']) => {
      const values = defaults.split(', ')
      return names.split(', ').map((name, index) => {
        const value = (values[index] ?? defaults).replaceAll('`', '')
        return [name.replaceAll('`', ''), value]
      })
    }),
  ) as Record<string, string>
}

test('without variables, the settings have the defaults that the docs list', async () => {
  const defaults = await defaultsOfDocs()
  const settings = readSettings({ PORT: '' })
  const shown = (value: string | number | string[] | false | undefined) =>
    value === undefined ? 'none' : value === false ? 'off' : String(value)
  const named = {
    PORT: settings.port,
    HOST: settings.host,
    DATABASE_URL: settings.databaseUrl,
    DATABASE_POOLER: settings.databasePooler,
    POSTGRES_BIN: settings.postgresBin ?? 'the binaries that npm installs',
    ANON_KEY: settings.anonKey,
    WEBHOOK_URL: settings.webhookUrl,
    WEBHOOK_DECISIONS_URL: settings.webhookDecisionsUrl,
    WEBHOOK_SECRET: settings.webhookSecret,
    WEBHOOK_PER_MINUTE: settings.webhookPerMinute,
    RATE_LIMIT_PER_MINUTE: settings.rateLimitPerMinute,
    TRUST_PROXY: settings.trustProxy,
    SITE_URL: settings.siteUrl,
    SECURITY_CONTACT: settings.securityContact,
    SMTP_URL: settings.mailServer?.host,
    MAIL_FROM: settings.mailServer?.from.address,
    MAIL_PER_MINUTE: settings.mailPerMinute,
    BACKUP_DIR: settings.backupDir,
    BACKUP_AT: settings.backupAt,
    BACKUP_KEEP: settings.backupKeep,
    LOG_LEVEL: settings.logLevel,
    METRICS_ADDRESS: settings.metricsAddress?.host,
  }
  for (const [name, value] of Object.entries(named))
    expect(`${name} ${shown(value)}`).toBe(`${name} ${defaults[name]}`)
  expect(settings.dataDir).toBe(resolve(defaults['DATA_DIR'] ?? ''))
})

test('the public address can also be set under its old name', () => {
  expect(readSettings({ VITE_SITE_URL: 'https://old.example' }).siteUrl).toBe('https://old.example')
  expect(
    readSettings({ SITE_URL: 'https://new.example', VITE_SITE_URL: 'https://old.example' }).siteUrl,
  ).toBe('https://new.example')
})

test('blanks and line ends around an address are removed', () => {
  const given = {
    SITE_URL: ' https://retreat.example\n',
    DATABASE_URL: '\tPOSTGRES://h/d\r\n',
    WEBHOOK_URL: 'https://hooks.example/a\n',
    SMTP_URL: 'smtp://mail.example\n',
    MAIL_FROM: 'hello@example.org',
  }
  expect(readSettings(given)).toMatchObject({
    siteUrl: 'https://retreat.example',
    databaseUrl: 'POSTGRES://h/d',
    webhookUrl: 'https://hooks.example/a',
    mailServer: { host: 'mail.example' },
  })
  expect(() => readSettings({ DATABASE_URL: '\npostgres://u@a:1,b:2/d' })).toThrow('several hosts')
})

test('a mail server is read and percent-decoded', () => {
  const read = (url: string, from = 'hello@example.org') =>
    readSettings({ SMTP_URL: url, MAIL_FROM: from }).mailServer
  expect(read('smtps://a%40b:p%2Fw%25@mail.example:2465')).toEqual({
    host: 'mail.example',
    port: 2465,
    secure: true,
    user: 'a@b',
    password: 'p/w%',
    from: { name: '', address: 'hello@example.org' },
  })
  expect(read('smtp://[::1]', 'Unplugged. <hello@example.org>')).toMatchObject({
    host: '[::1]',
    port: undefined,
    secure: false,
    user: '',
    from: { name: 'Unplugged.', address: 'hello@example.org' },
  })
})

test.each([
  ['smtp://user:p#ss@mail.example', 'hello@example.org', /^SMTP_URL .* percent-encoded/],
  ['smtp://user:p/ss@mail.example', 'hello@example.org', /^SMTP_URL /],
  ['smtp://user:p%ss@mail.example', 'hello@example.org', /^SMTP_URL .* percent-encoded/],
  ['\nsmtp://user:p%ss@mail.example', 'hello@example.org', /^SMTP_URL .* percent-encoded/],
  ['smtp://mail.example/inbox', 'hello@example.org', /^SMTP_URL .* percent-encoded/],
  ['smtp://mail.example/?tls=1', 'hello@example.org', /^SMTP_URL .* percent-encoded/],
  ['http://u:100%@smtp://mail.example', 'hello@example.org', /^SMTP_URL .*smtp:\/\/ or smtps:\/\//],
  ['smtp://', 'hello@example.org', /^SMTP_URL /],
  ['https://mail.example', 'hello@example.org', /^SMTP_URL .*smtp:\/\/ or smtps:\/\//],
  ['smtp://mail.example', '', /^MAIL_FROM is "" but should be the address/],
  ['smtp://mail.example', undefined, /^MAIL_FROM is "" but should be the address/],
  ['smtp://mail.example', 'a@b.org, c@d.org', /^MAIL_FROM /],
  ['smtp://mail.example', 'a: b <c@d.org>, e', /^MAIL_FROM /],
  ['smtp://mail.example', 'x\r\nBcc: c@d.org <a@b.org>', /^MAIL_FROM /],
])(
  'SMTP_URL %s and MAIL_FROM %j are refused, and the error says what they should be',
  (url, from, sentence) => {
    expect(() => readSettings({ SMTP_URL: url, MAIL_FROM: from })).toThrow(sentence)
  },
)

test.each([
  ['PORT', '80a', '"80a"'],
  ['PORT', 'a80', '"a80"'],
  ['PORT', '65536', '65535'],
  ['DATABASE_URL', 'mysql://host', 'postgres://'],
  ['ANON_KEY', 'two words', 'without spaces'],
  ['ANON_KEY', 'sb_secret_x', 'is a secret key'],
  ['WEBHOOK_URL', 'example.com/hook', 'https://'],
  ['WEBHOOK_DECISIONS_URL', 'example.com/hook', 'https://'],
  ['WEBHOOK_DECISIONS_URL', 'http://example.com:25/hook', 'names port 25'],
  ['WEBHOOK_SECRET', 'short', 'whsec_'],
  ['WEBHOOK_SECRET', secretOf(23), 'whsec_$(head -c 32 /dev/urandom | base64)'],
  ['WEBHOOK_SECRET', secretOf(65), 'random bytes in base64'],
  ['WEBHOOK_SECRET', `my ${secretOf(32)}`, 'random bytes in base64'],
  ['WEBHOOK_SECRET', `${secretOf(32)} !`, 'random bytes in base64'],
  ['RATE_LIMIT_PER_MINUTE', '-1', 'whole number'],
  ['SECURITY_CONTACT', 'ada@example.org', 'mailto:'],
  ['SECURITY_CONTACT', 'https://example.org/a\nContact: x', 'mailto:'],
  ['SECURITY_CONTACT', 'see https://example.org/security', 'mailto:'],
  ['MAIL_PER_MINUTE', 'many', 'whole number'],
  ['MAIL_PER_MINUTE', '1e5', 'whole number'],
  ['MAIL_PER_MINUTE', '1000001', 'from 0 to 1000000'],
  ['BACKUP_DIR', './data/backups', 'lies in DATA_DIR'],
  ['BACKUP_DIR', 'data', 'lies in DATA_DIR'],
  ['BACKUP_AT', '3:00', '00:00 to 23:59'],
  ['BACKUP_AT', '24:00', '00:00 to 23:59'],
  ['BACKUP_AT', '103:00', '00:00 to 23:59'],
  ['BACKUP_AT', '03:001', '00:00 to 23:59'],
  ['BACKUP_KEEP', '0', 'at least 1'],
  ['BACKUP_KEEP', 'all', 'whole number'],
  ['LOG_LEVEL', 'trace', 'info, warn or error'],
  ['METRICS_ADDRESS', 'http://127.0.0.1:9464', 'such as 127.0.0.1:9464'],
  ['TRUST_PROXY', 'nginx', 'ranges'],
  ['TRUST_PROXY', '10.0.0.0/33', 'ranges'],
  ['TRUST_PROXY', '0.0.0.0/0', 'ranges'],
  ['TRUST_PROXY', '10.0.0.0/8, nginx', 'ranges'],
  ['TRUST_PROXY', '10.0.0.0/8/8', 'ranges'],
  ['TRUST_PROXY', '::/129', 'ranges'],
  ['TRUST_PROXY', '10.0.0.0/x8', 'ranges'],
  ['TRUST_PROXY', '10.0.0.0/8x', 'ranges'],
  ['TRUST_PROXY', '10.0.0.0/8.0', 'ranges'],
  ['TRUST_PROXY', '10.0.0.0/08', 'ranges'],
  ['SITE_URL', 'unplugged.example', 'https://'],
  ['VITE_SITE_URL', 'unplugged.example', 'https://'],
  ['SITE_URL', 'https:/unplugged.example', 'https://'],
  ['SITE_URL', 'https:unplugged.example', 'https://'],
  ['SITE_URL', ' ', 'https://'],
  [
    'SITE_URL',
    'https://ada:hunter2@unplugged.example',
    'a user or a password, which every visitor could read',
  ],
  ['VITE_SITE_URL', 'https://ada@unplugged.example', 'a user or a password, which every visitor could read'],
  ['SITE_URL', 'http://unplugged.example:6000', 'names port 6000'],
  ['WEBHOOK_URL', 'http://example.com:25/hook', 'names port 25'],
  ['WEBHOOK_URL', 'http://u:100%@example.com/', '%25'],
  ['DATABASE_URL', 'postgres://u:p#ss@h/d', 'percent-encoded'],
  ['DATABASE_URL', 'postgres://u:p/ss@h/d', 'percent-encoded'],
  ['DATABASE_URL', 'postgres://u:100%@h/d', 'percent-encoded'],
  ['DATABASE_URL', 'postgres://h:99999/d', 'its port is a number up to 65535'],
  ['DATABASE_URL', 'postgres://u@a:1,b:2/d', 'several hosts'],
  ['DATABASE_URL', 'postgres://a,b/d', 'several hosts'],
  ['DATABASE_URL', 'postgres://user:secret@a,b/d', 'several hosts'],
  ['DATABASE_URL', 'postgres://user:a,b@a:1,b:2/d', 'several hosts'],
  ['DATABASE_URL', 'postgres://a%2Cb/d', 'several hosts'],
  ['DATABASE_URL', 'postgres://a,b/d?application_name=a@b', 'several hosts'],
  ['DATABASE_URL', 'postgres://u@h/d?host=a,b', 'several hosts'],
  ['DATABASE_URL', 'postgres://u@h/d?host=%2Ftmp&port=1,2', 'several hosts'],
  ['DATABASE_URL', 'postgres://u:p,q/ss@h/d', 'percent-encoded'],
  ['DATABASE_URL', 'postgres://u:1,2/ss@h/d', 'percent-encoded'],
  ['DATABASE_URL', 'http://a,b/postgres://', 'postgres:// or postgresql://'],
  ['DATABASE_POOLER', 'session', '"transaction"'],
])('%s set to %s is refused by a sentence that says what it should be', (name, value, expected) => {
  const read = () => readSettings({ [name]: value })
  expect(read).toThrow(new RegExp(`^${name} `))
  expect(read).toThrow(expected)
})

test.each([
  [
    'ftp://ada:hunter2@hooks.example.com:8080/x?y',
    '("ftp://…@hooks.example.com:8080/…", without its secrets)',
  ],
  ['ftp://hooks.example.com/', '("ftp://hooks.example.com/")'],
  ['FTP://Hooks.example.com', '("FTP://Hooks.example.com")'],
  ['hooks.example.com', '("hooks.example.com")'],
  ['hooks.example.com:8080', '("hooks.example.com:8080")'],
  ['hooks.example.com/catch/hunter2', '("hooks.example.com/…", without its secrets)'],
  ['ftp://[2001:db8::1]:21', '("ftp://[2001:db8::1]:21")'],
  ['ftp://ada:hun/ter2@hooks.example.com', '("ftp://…", without its secrets)'],
  ['ftp://ada:123/4@hooks.example.com', '("ftp://…", without its secrets)'],
  ['ftp://ada:hunter2', '("ftp://…", without its secrets)'],
  ['ftp://ada:hunter://@hooks.example.com', '("ftp://…", without its secrets)'],
  ['ada:hunter2@hooks.example.com', '(not shown: it may hold a password)'],
  ['ada:hunter@hooks.example.com', '(not shown: it may hold a password)'],
  ['ada:1/hunter2://@hooks.example.com', '(not shown: it may hold a password)'],
  ['ada.example:12345@hooks.example.com', '(not shown: it may hold a password)'],
  ['ada.example:secre', '(not shown: it may hold a password)'],
  ['whsec_hunter2', '(not shown: it may hold a password)'],
])('the refused address %s is shown without its secrets', (given, expected) => {
  expect(() => readSettings({ WEBHOOK_URL: given })).toThrow(
    `WEBHOOK_URL ${expected} should be an address that begins with https:// or http://.`,
  )
})

test('secrets are not repeated in messages about them', () => {
  expect(() => readSettings({ DATABASE_URL: 'http://u:hunter2@h/d' })).toThrow(/^(?!.*hunter2)/)
  expect(() => readSettings({ WEBHOOK_SECRET: 'hunter2' })).toThrow(/^(?!.*hunter2)/)
  expect(() => readSettings({ DATABASE_URL: 'postgres://u:hunter2#@h/d' })).toThrow(/^(?!.*hunter2)/)
  expect(() => readSettings({ WEBHOOK_URL: 'ftp://u:hunter2@h/d' })).toThrow(/^(?!.*hunter2)/)
  expect(() => readSettings({ SMTP_URL: 'smtp://u:hunter2@h/%' })).toThrow(/^SMTP_URL \("smtp:\/\/…@h\/…"/)
})

test.each([
  ['0', 0],
  ['1000000', 1_000_000],
])('MAIL_PER_MINUTE set to %s is understood', (given, expected) => {
  expect(readSettings({ MAIL_PER_MINUTE: given }).mailPerMinute).toBe(expected)
})

test.each(['mailto:security@example.org', 'https://example.org/security'])(
  'reports of security faults may go to %s',
  (contact) => {
    expect(readSettings({ SECURITY_CONTACT: contact }).securityContact).toBe(contact)
  },
)

test('each limit a minute is set under its own name', () => {
  const limits = { WEBHOOK_PER_MINUTE: '7', RATE_LIMIT_PER_MINUTE: '8', MAIL_PER_MINUTE: '9' }
  expect(readSettings(limits)).toMatchObject({
    webhookPerMinute: 7,
    rateLimitPerMinute: 8,
    mailPerMinute: 9,
  })
})

test.each([
  ['1', 1],
  ['0', false],
  ['10.0.0.0/8, ::1', ['10.0.0.0/8', '::1']],
  ['off', false],
  ['12', 12],
  ['10.0.0.1/32, ::/128, ::/64', ['10.0.0.1/32', '::/128', '::/64']],
])('TRUST_PROXY set to %s is understood', (given, expected) => {
  expect(readSettings({ TRUST_PROXY: given }).trustProxy).toEqual(expected)
})

test.each([secretOf(24), secretOf(25), secretOf(26), secretOf(64), secretOf(32).replace('whsec_', '')])(
  'a secret of 24 to 64 bytes is accepted, with or without whsec_: %s',
  (secret) => {
    expect(readSettings({ WEBHOOK_SECRET: secret }).webhookSecret).toBe(secret)
  },
)

test('paths of folders are made absolute, and backups may be in DATA_DIR if the database is elsewhere', () => {
  const folders = { HOST: '::', DATA_DIR: 'here', POSTGRES_BIN: 'programs', BACKUP_DIR: 'backups' }
  expect(readSettings(folders)).toMatchObject({
    host: '::',
    dataDir: resolve('here'),
    postgresBin: resolve('programs'),
    backupDir: resolve('backups'),
  })
  expect(() => readSettings({ DATA_DIR: 'here', BACKUP_DIR: 'here/backups' })).toThrow(/^BACKUP_DIR /)
  expect(readSettings({ DATA_DIR: 'here', BACKUP_DIR: 'data/backups' }).backupDir).toBe(
    resolve('data/backups'),
  )
  const elsewhere = { DATABASE_URL: 'postgresql://h/d', BACKUP_DIR: 'data/backups' }
  expect(readSettings(elsewhere).backupDir).toBe(resolve('data/backups'))
})

test.each([
  'postgres://h/d?application_name=http://a,b',
  'postgres://u:p,w@h/d',
  'postgres://u,v:p,w@[::1]:5432/d,e?password=a,b',
  'postgres://u:p,w@%2Ftmp/d',
])('a database address with one host is accepted, even with a comma elsewhere: %s', (url) => {
  expect(readSettings({ DATABASE_URL: url }).databaseUrl).toBe(url)
})

test('a database behind a pooler in transaction mode is accepted, and so is a webhook on another port', () => {
  const settings = { DATABASE_POOLER: 'transaction', WEBHOOK_URL: 'https://u:p@example.com:8443/hook' }
  expect(readSettings(settings)).toMatchObject({
    databasePooler: 'transaction',
    webhookUrl: settings.WEBHOOK_URL,
  })
})

test.each([
  ['smtp://mail.example', 587],
  ['smtps://mail.example', 465],
  ['smtps://mail.example:2465/', 2465],
])('the mail server %s is shown at port %i', (url, port) => {
  const mailServer = readSettings({ SMTP_URL: url, MAIL_FROM: 'hello@example.org' }).mailServer
  expect(mailServer && hostAndPort(mailServer)).toEqual({ host: 'mail.example', port })
})

test('the unit of systemd sets no variables itself, so the server and the commands have the same settings', async () => {
  expect(await readFile('deploy/unplugged.service', 'utf8')).not.toMatch(/^\s*(Environment|PassEnvironment)/m)
  const settings = readSettings(parseEnv(await readFile('deploy/unplugged.env', 'utf8')))
  expect(settings).toMatchObject({ dataDir: '/var/lib/unplugged', trustProxy: ['127.0.0.1', '::1'] })
})

test('the settings file for systemd lists the settings that a new site needs, and those that are commented out are valid', async () => {
  const text = (await readFile('deploy/unplugged.env', 'utf8')).replaceAll(/^# (?=[A-Z_]+=)/gm, '')
  const all = parseEnv(text)
  expect(Object.keys(all).toSorted()).toEqual([
    'BACKUP_AT',
    'BACKUP_DIR',
    'DATA_DIR',
    'MAIL_FROM',
    'PORT',
    'SITE_URL',
    'SMTP_URL',
    'TRUST_PROXY',
    'WEBHOOK_DECISIONS_URL',
    'WEBHOOK_SECRET',
    'WEBHOOK_URL',
  ])
  expect(readSettings(all)).toMatchObject({
    siteUrl: 'https://retreat.example',
    mailServer: { host: 'mail.example', from: { name: 'Unplugged.' } },
  })
})
