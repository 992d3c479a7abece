import type { Break } from './break.ts'

/** The visitor's browser. */
export const browser: readonly Break[] = [
  {
    promise: 'no foreign script runs, nobody else is called',
    effect: 'The page may call anybody',
    changedFile: 'src/pages/policy.ts',
    find: '[...new Set(origins)]',
    replace: "[...new Set(origins), '*']",
    testFile: 'e2e/attacks/unwelcome.test.ts',
    testTitle: 'the page allows its own scripts and style by hash, and calls to nobody else',
  },
  {
    promise: 'nobody frames the page or redirects the form',
    effect: 'Another page of the site may frame this one',
    changedFile: 'src/pages/headers.ts',
    find: `framing = "frame-ancestors 'none'"`,
    replace: `framing = "frame-ancestors 'self'"`,
    testFile: 'e2e/attacks/unwelcome.test.ts',
    testTitle: 'the page allows its own scripts and style by hash, and calls to nobody else',
  },
  {
    promise: 'answers are never in an address',
    effect: 'Where nobody takes a native send, the browser may make one',
    changedFile: 'src/pages/policy.ts',
    find: `[postsForms ? "'self'" : "'none'"]`,
    replace: `[postsForms || "'self'"].map(() => "'self'")`,
    testFile: 'e2e/hosted.test.ts',
    testTitle: 'without JavaScript a plain sentence says that it is needed, and no answer leaves the page',
  },
  {
    promise: 'the text of an error is shown as text',
    effect: 'An error is shown as HTML',
    changedFile: 'src/pages/apply/Outcome.tsx',
    find: '<p id="outcome-text">{text}</p>',
    replace: '<p id="outcome-text" dangerouslySetInnerHTML={{ __html: text }} />',
    testFile: 'e2e/hosted.test.ts',
    testTitle: "the error's own message is shown as text, and every answer is kept",
  },
  {
    promise: 'drafts stay in the tab',
    effect: 'What was typed stays when its owner signs out',
    changedFile: 'src/pages/desk/kit/useUnsentText.ts',
    find: `  store(empty)
  shared.setItem`,
    replace: '  shared.setItem',
    testFile: 'e2e/desk-mishaps.test.ts',
    testTitle: 'typed text survives Back and a reload, and is gone after its author signs out',
  },
  {
    promise: 'visits are counted without anything about a person',
    effect: 'A visit without a source is stored with the browser that made it',
    changedFile: 'src/server/pages/visits.ts',
    find: 'add(sourceOf(query), 1, 0)',
    replace: "add(`${sourceOf(query)}${headers['user-agent'] ?? ''}`, 1, 0)",
    testFile: 'src/server/pages/visits.test.ts',
    testTitle: '10,000 different sources become a thousand and `other`, and nothing else is kept',
  },
  {
    promise: "a letter's link answers nothing automatically, and its token is in no log, query or `Referer`",
    effect: 'Search engines keep the page that a letter links to',
    changedFile: 'src/pages/headers.ts',
    find: "'x-robots-tag': 'noindex'",
    replace: "'x-robots-tag': 'all'",
    testFile: 'e2e/answer.test.ts',
    testTitle: 'the token of a link stands in no log, no address that is asked for, no referrer and no title',
  },
]
