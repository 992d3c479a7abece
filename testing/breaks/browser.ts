import type { Break } from './break.ts'

/** The visitor's browser. */
export const browser: readonly Break[] = [
  {
    promise: 'no foreign script runs, nobody else is called',
    broken: 'The page may call anybody',
    file: 'src/pages/policy.ts',
    find: '[...new Set(origins)]',
    replace: "[...new Set(origins), '*']",
    test: 'e2e/attacks/unwelcome.test.ts',
    name: 'the page allows its own scripts and style by hash, and calls to nobody else',
  },
  {
    promise: 'nobody frames the page or redirects the form',
    broken: 'Another page of the site may frame this one',
    file: 'src/pages/headers.ts',
    find: `framing = "frame-ancestors 'none'"`,
    replace: `framing = "frame-ancestors 'self'"`,
    test: 'e2e/attacks/unwelcome.test.ts',
    name: 'the page allows its own scripts and style by hash, and calls to nobody else',
  },
  {
    promise: 'answers are never in an address',
    broken: 'Where nobody takes a native send, the browser may make one',
    file: 'src/pages/policy.ts',
    find: `[postsForms ? "'self'" : "'none'"]`,
    replace: `[postsForms || "'self'"].map(() => "'self'")`,
    test: 'e2e/hosted.test.ts',
    name: 'without JavaScript a plain sentence says that it is needed, and no answer leaves the page',
  },
  {
    promise: 'the text of an error is shown as text',
    broken: 'An error is shown as HTML',
    file: 'src/pages/apply/Outcome.tsx',
    find: '<p id="outcome-text">{text}</p>',
    replace: '<p id="outcome-text" dangerouslySetInnerHTML={{ __html: text }} />',
    test: 'e2e/hosted.test.ts',
    name: "the error's own message is shown as text, and every answer is kept",
  },
  {
    promise: 'drafts stay in the tab',
    broken: 'What was typed stays when its owner signs out',
    file: 'src/pages/desk/kit/useUnsentText.ts',
    find: `  store(empty)
  shared.setItem`,
    replace: '  shared.setItem',
    test: 'e2e/desk-mishaps.test.ts',
    name: 'typed text survives Back and a reload, and is gone after its author signs out',
  },
  {
    promise: "a letter's link answers nothing automatically, and its token is in no log, query or `Referer`",
    broken: 'Search engines keep the page that a letter links to',
    file: 'src/pages/headers.ts',
    find: "'x-robots-tag': 'noindex'",
    replace: "'x-robots-tag': 'all'",
    test: 'e2e/answer.test.ts',
    name: 'the token of a link stands in no log, no address that is asked for, no referrer and no title',
  },
]
