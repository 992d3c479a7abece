import type { Break } from './break.ts'

/** Deliberate breaks of the promises about the visitor's browser. */
export const browser: readonly Break[] = [
  {
    promise: 'no foreign script runs, nobody else is called',
    effect: 'The page may send requests to any server',
    changedFile: 'src/pages/policy.ts',
    find: '[...new Set(origins)]',
    replace: "[...new Set(origins), '*']",
    testFile: 'test/system/attacks/unwelcome.test.ts',
    testTitle:
      'the page allows only its own scripts and styles, by hash, and requests only to its own origin',
  },
  {
    promise: 'nobody frames the page or redirects the form',
    effect: 'Another page of the site may frame this one',
    changedFile: 'src/pages/headers.ts',
    find: `framing = "frame-ancestors 'none'"`,
    replace: `framing = "frame-ancestors 'self'"`,
    testFile: 'test/system/attacks/unwelcome.test.ts',
    testTitle:
      'the page allows only its own scripts and styles, by hash, and requests only to its own origin',
  },
  {
    promise: 'answers are never in an address',
    effect: 'The browser may submit the form natively on a site that does not accept that',
    changedFile: 'src/pages/policy.ts',
    find: `[postsForms ? "'self'" : "'none'"]`,
    replace: `[postsForms || "'self'"].map(() => "'self'")`,
    testFile: 'test/browser/hosted.test.ts',
    testTitle:
      'without JavaScript the page says that JavaScript is needed, and no form answer leaves the page',
  },
  {
    promise: 'the text of an error is shown as text',
    effect: 'An error is shown as HTML',
    changedFile: 'src/pages/apply/Outcome.tsx',
    find: `<p id="outcome-text" dir="auto">
        {text}
      </p>`,
    replace: '<p id="outcome-text" dangerouslySetInnerHTML={{ __html: text }} />',
    testFile: 'test/browser/hosted.test.ts',
    testTitle: "the server's error message is shown as text, and every form answer is kept",
  },
  {
    promise: "an operator's own words are shown as text, and their link leads to the web",
    effect: "A tag in an operator's words ends the script element with the document's data",
    changedFile: 'src/pages/document.tsx',
    find: "return json.replaceAll('<', '\\\\u003c')",
    replace: 'return json',
    testFile: 'test/browser/look.test.ts',
    testTitle: "an operator's own words are shown as text, before and after an application",
  },
  {
    promise: "an operator's own words are shown as text, and their link leads to the web",
    effect: 'The link may run a script',
    changedFile: 'src/settings/values.ts',
    find: 'readAddress(environment, name, webProtocols)',
    replace: "readAddress(environment, name, [...webProtocols, 'javascript:'])",
    testFile: 'src/settings/look-settings.test.ts',
    testTitle:
      'the privacy link is a web address without a user or a password, and its unusual characters are encoded',
  },
  {
    promise: 'drafts stay in the tab',
    effect: "A guest's unsent private answer is stored in the tab",
    changedFile: 'src/pages/answer/unsent.ts',
    find: 'list.filter(({ is_private }) => !is_private)',
    replace: 'list',
    testFile: 'test/browser/answer-questions.test.ts',
    testTitle: 'typed text survives a reload in this tab and for this link, except private answers',
  },
  {
    promise: 'drafts stay in the tab',
    effect: 'Typed text stays in the tab after its author signs out',
    changedFile: 'src/pages/desk/kit/useUnsentText.ts',
    find: `  store(empty)
  shared.setItem`,
    replace: '  shared.setItem',
    testFile: 'test/browser/desk-mishaps.test.ts',
    testTitle: 'typed text survives Back and a reload, and is gone after its author signs out',
  },
  {
    promise: 'visits are counted without anything about a person',
    effect: 'A visit without a source is stored with the browser that made it',
    changedFile: 'src/server/pages/visits.ts',
    find: 'add(sourceOf(query), 1, 0)',
    replace: "add(`${sourceOf(query)}${headers['user-agent'] ?? ''}`, 1, 0)",
    testFile: 'src/server/pages/visits.test.ts',
    testTitle: '10,000 different sources become a thousand and `other`, and nothing but counts is saved',
  },
  {
    promise: "a letter's link answers nothing automatically, and its token is in no log, query or `Referer`",
    effect: 'Search engines index the page that a letter links to',
    changedFile: 'src/pages/headers.ts',
    find: "'x-robots-tag': 'noindex'",
    replace: "'x-robots-tag': 'all'",
    testFile: 'test/browser/answer.test.ts',
    testTitle: 'the token of a link is never in a log, a requested address, a referrer or a title',
  },
]
