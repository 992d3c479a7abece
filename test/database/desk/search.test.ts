import { expect, test } from 'vitest'
import { isUnspaced } from '../../../src/pages/desk/applications/unspaced.ts'
import { anApplication } from '../../support/form.ts'
import { askDesk, idsOf, type Page, type Overview } from '../../support/ask-desk.ts'
import type { Application } from '../../../src/application/application.ts'
import { valuesOf } from '../../support/sql.ts'
import { applicationDesk, aWord, withoutLimit } from '../../support/application-server-for-test-file.ts'

const desk = applicationDesk()
const { store, list, openDetails, readPages } = desk

const apply = (application: Application, on = desk.server) =>
  on.client().from('retreat_applications').insert(application)

test('the search finds every word of the fields that it covers, regardless of accents and case', async () => {
  const word = aWord()
  const id = await store({
    first_name: 'Émile',
    last_name: `O'Brien-Łukasz ${word}`,
    email: `Zoë.Müller_99+retreat@Mail.Mountain-Hut.example`,
    linkedin: 'https://www.linkedin.com/in/emile-the-climber/',
    company: 'Ångström & Søns (GmbH)',
    custom_solution: 'a CABIN in Norrköping',
    reason:
      'We’re “offline”—every Sunday🌲together… ½ day; ＦＵＬＬＷＩＤＴＨ ﬁnding 日本語のテキスト\u00a0quietly <silence>',
    phone: '+1 555 0100',
  })
  const finds = async (search: string) => idsOf(await list({ search: `${word} ${search}` }))
  for (const search of [
    'emile',
    'ÉMILE',
    'e\u0301mile',
    'brien',
    "O'BRIEN",
    'o’brien',
    'Łukasz',
    'łukasz',
    'zoe.muller_99+retreat@mail.mountain-hut.example',
    'mountain-hut.example',
    '@mail.mountain-hut.example',
    'mountain',
    'retreat',
    'linkedin.com/in/emile-the-climber',
    'climber',
    'angstrom gmbh',
    'ångström',
    'cabin norrkoping',
    'offline',
    '“offline”',
    'every',
    'sunday',
    'together',
    'sunday🌲',
    '🌲',
    'day',
    'fullwidth',
    'finding',
    'FINDING',
    '日本語のテキスト',
    '日本語',
    'quietly',
    'silence',
    'we’re',
    "we're",
  ]) {
    expect([search, await finds(search)]).toEqual([search, [id]])
  }
  for (const search of ['emil0', 'emile brienx', '5550100', 'xmountain', 'ountain', 'emile nobody']) {
    expect([search, await finds(search)]).toEqual([search, []])
  }
  // The words may be in any field and any order.
  expect(idsOf(await list({ search: `climber ${word} emile` }))).toEqual([id])
})

test('the last word of a search also matches the beginnings of words once it has three letters; other words match exactly', async () => {
  const word = aWord()
  const id = await store({ reason: `${word} Wandering Élan` })
  const finds = async (search: string) => idsOf(await list({ search }))
  expect(await finds(`${word} wan`)).toEqual([id])
  expect(await finds(`${word} WANDER `)).toEqual([id])
  expect(await finds(`${word} éla`)).toEqual([id])
  expect(await finds(`${word} wa`)).toEqual([])
  expect(await finds(`wander ${word}`)).toEqual([])
  expect(await finds(word.slice(0, -1))).toEqual([id])
})

test.each([
  ['Łukasz Wałęsa', ['lukasz', 'LUKASZ', 'łukasz', 'ŁUKASZ', 'walesa', 'Ł'.normalize('NFD') + 'ukasz']],
  ['Søren Kjærgård', ['soren', 'søren', 'SØREN', 'kjaergard', 'kjær']],
  ['Strauß GROẞ', ['strauss', 'STRAUSS', 'strauß', 'gross', 'groß']],
  ['Þórdís Guðmundsdóttir', ['thordis', 'þor', 'gudmundsdottir']],
  ['Đorđe Nguyễn Đỗ', ['dorde', 'đorđe', 'nguyen', 'do']],
  ['Işıl YILDIZ Iıdır', ['isil', 'işil', 'yildiz', 'yıldız', 'iidir']],
  ['Ħanna Ŋiáŋŋá Ŧ', ['hanna', 'nianna', 't']],
  ['Œuvré Ǆura ĳsbrand', ['oeuvre', 'dzura', 'ijsbrand']],
  ['Gal·la Coŀlega', ['galla', 'gal·la', 'gaŀla', 'collega']],
  ['Γιώργος Σοφός', ['ΓΙΩΡΓΟΣ', 'γιωργοσ', 'ΣΟΦΟΣ', 'ΣΟΦ', 'σοφός']],
  ['𝐀𝐝𝐚 𝚨𝚲𝚬𝚾', ['ada', 'αλεχ', 'ΑΛΕΧ']],
  ['Kaʻahu Oʼbrien Saʿid', ["ka'ahu", 'ahu', "o'brien", 'brien', 'said']],
  ['Ḥasan Ha᪰nna', ['hasan', 'hanna']],
  ['３×４ ①', ['3 4', '1']],
])('a search finds %j by its letters without accents, in both cases', async (name, searches) => {
  const id = await store({ first_name: name })
  for (const search of searches) expect([search, idsOf(await list({ search }))]).toEqual([search, [id]])
})

test('letters fold as in PostgreSQL’s own list of accents, except for the signs named here', async () => {
  const { owner } = desk.server.database
  const [{ text }] = await owner<[{ text: string }]>`
    select pg_read_file(setting || '/tsearch_data/unaccent.rules') as text from pg_config where name = 'SHAREDIR'`
  const rules = Array.from(text.matchAll(/^(\S+)(?:[ \t]+(.*))?$/gm), ([, from = '', to = '']) => ({
    from,
    // A quoted text doubles its quotes.
    to: to.replace(/^"(.*)"$/, (_all, quoted: string) => quoted.replaceAll('""', '"')),
  }))
  expect(rules.length).toBeGreaterThan(1500)
  // Within a word, a soft hyphen joins, and a fraction has no space before it. Signs that split words, and the Chinese zero, are
  // no letters.
  const others = /[\u00ad\u02dc©®℗℘℞〇\p{Sc}]|^\p{No}$/u
  const differing = await owner`
    select rule ->> 'from' as letter, folded.*
    from jsonb_array_elements(${JSON.stringify(rules.filter(({ from }) => !others.test(from)))}::text::jsonb) as rule,
      lateral (select to_tsvector('simple', private.folded('x' || (rule ->> 'from') || 'y')) as words,
        to_tsvector('simple', private.folded('x' || (rule ->> 'to') || 'y')) as by_the_rule) as folded
    where words <> by_the_rule`
  expect(differing).toEqual([])
})

test.each([
  ['王小明', '王'],
  ['王小明', '王小'],
  ['𠮷田', '𠮷'],
  ['さくら', 'さ'],
  ['ジョン・スミス', 'ス'],
  ['ｼﾞｮﾝ', 'ジ'],
  ['김민준', '김'],
  ['이순신', '이'],
  ['สมชาย', 'ส'],
  ['ສົມພອນ', 'ສ'],
  ['សុខ', 'ស'],
  ['အောင်', 'အ'],
])('in a script without spaces, one character finds a beginning: %s by %s', async (name, search) => {
  const id = await store({ first_name: 'Ada', last_name: name })
  await store({ first_name: 'Ada', last_name: `x${name.replace('・', '')}` })
  expect(idsOf(await list({ search }))).toEqual([id])
  expect(idsOf(await list({ search: `ada ${search}` }))).toEqual([id])
  // The last word alone may be a beginning.
  expect(idsOf(await list({ search: `${search} ada` }))).toEqual(search === name ? [id] : [])
})

test('the database and the hint beside the search agree on the scripts without spaces', async () => {
  const characters = Array.from({ length: 0x32_000 }, (_, code) => code)
    // All letters of the smaller scripts, and some of the large ones. Fillers are blank, and Arabic ligatures are long enough.
    .filter((code) => code < 0x3400 || code % 61 === 0)
    .map((code) => String.fromCodePoint(code))
    .filter(
      (character) => /^\p{Lo}$/u.test(character) && !/[\p{scx=Arab}\u115f\u1160\u3164]/u.test(character),
    )
  const rows = await desk.server.database.owner<{ character: string }[]>`
    select character from jsonb_array_elements_text(${JSON.stringify(characters)}::text::jsonb) as character
    where private.query_of(character)::text like '%:*'`
  expect(rows.map(({ character }) => character)).toEqual(characters.filter(isUnspaced))
})

/** The first characters of a text. Unlike `slice`, it does not split a character. */
const beginning = (text: string, length: number) => Array.from(text).slice(0, length).join('')

const oddTexts = [
  ['characters that each fold into eighteen letters', 'ﷺ'.repeat(400)],
  ['lone combining marks', '\u0301\u0302 \u0300'.repeat(50)],
  ['emoji', '👩🏽‍🚀🏳️‍🌈🇨🇭'.repeat(20)],
  ['quotes and backslashes', `' '' " \\ \\' \\\\ ''' \\"`],
  ['operators', `!a & b | (c <-> d) :* 'e':A -f`],
  ['punctuation', '%_?*[]{}^$|<>&;`~#='],
  ['only spaces', ' \t\r\n\u00a0\u3000'],
  ['zero-width and direction marks', '\u200b\u200d\u202e\ufeff\u2066a'],
  ['a word of 4,800 letters', 'ab'.repeat(2400)],
  ['squared words', '㌖㍿㌫'.repeat(70)],
  ['the last code points', '\ufffe\uffff\u{10ffff}\u{e0001}'],
  ['a tag and an address', '<a href="https://example.com/?q=1&r=2">&amp; &#x27;</a>'],
] as const

test.each(oddTexts)(
  'text with %s is stored unchanged, and a search for it does not fail',
  async (_what, text) => {
    const word = aWord()
    const application = anApplication({
      first_name: `${text} `,
      last_name: text,
      company: `${text} `,
      linkedin: text,
      custom_solution: text,
      reason: `${word} ${text.repeat(20)}`,
    })
    expect(await apply(application)).toMatchObject({ status: 201, error: null })
    const [line] = (await list({ search: word })).applications
    expect(line).toMatchObject({ first_name: beginning(`${text} `, 200) })
    expect((await openDetails(line?.id ?? '')).application).toMatchObject(application)
    for (const search of [text, `${text} ${word}`, `${word} ${text}`, beginning(text, 199)]) {
      for (const name of ['desk_list', 'desk_overview', 'desk_export']) {
        expect(await desk.client.rpc(name, { filter: { search } })).toMatchObject({
          status: 200,
          error: null,
        })
      }
    }
  },
)

test.each([
  ['of one word', 'a'],
  ['of different words', Array.from({ length: 10_000 }, (_, index) => `w${index}`).join(' ')],
  ['of characters that each fold into eighteen letters', 'ﷺ'],
  ['of signs and marks', '\u0301“ '],
])(
  'a reason of a megabyte %s, stored before there was a limit, is found by its beginning, read and exported',
  async (_what, part) => {
    const word = aWord()
    const long = (bytes: number) => part.repeat(bytes / Buffer.byteLength(part))
    // The longest reason that is accepted now: 100,000 characters, in a request of 256 KiB.
    expect(await apply(anApplication({ reason: long(250_000).slice(0, 100_000) }))).toMatchObject({
      status: 201,
      error: null,
    })
    const application = anApplication({ reason: `${word} ${long(1_000_000)}` })
    await withoutLimit(
      desk.server.database.owner,
      (owner) => owner`
    insert into public.retreat_applications ${valuesOf({ ...application })}`,
    )
    const [line] = (await list({ search: word })).applications
    expect(line?.reason.length).toBeLessThanOrEqual(202)
    expect((await openDetails(line?.id ?? '')).application.reason).toBe(application.reason)
    expect(
      (await askDesk<Page>(desk.client, 'export', { filter: { search: word } })).applications,
    ).toMatchObject([{ reason: application.reason }])
  },
)

test('a long form answer has a stored search vector, however well it compresses; a short one has none', async () => {
  const countStoredVectors = async (reason: string) => {
    const id = await store({ reason })
    return (await desk.server.database.owner`select from private.search_vectors where application_id = ${id}`)
      .length
  }
  expect(await countStoredVectors('so '.repeat(5_000))).toBe(1)
  // A character of three bytes counts as seven bytes.
  expect(await countStoredVectors('山'.repeat(290))).toBe(1)
  expect(await countStoredVectors('so '.repeat(500))).toBe(0)
})

test('a search with too many candidates for one call continues on further pages until it has found everything', async () => {
  const word = aWord()
  const { owner } = desk.server.database
  const rows = Array.from({ length: 1100 }, () => ({
    ...anApplication({ reason: word }),
    created_at: '1980-01-01T00:00:00Z',
  }))
  for (let from = 0; from < rows.length; from += 550) {
    await owner`insert into public.retreat_applications ${valuesOf(rows.slice(from, from + 550))}`
  }
  // As autovacuum would. Without statistics, the planner expects few rows.
  await owner`analyze public.retreat_applications`
  const found = (await readPages('export', { search: word })).flatMap(idsOf)
  expect(found).toHaveLength(1100)
  expect(new Set(found).size).toBe(1100)
  const { counts } = await askDesk<Overview>(desk.client, 'overview', { filter: { search: word } })
  expect(counts['all']?.more).toBe(true)
})
