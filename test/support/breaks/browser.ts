import type { Break } from './break.ts'

/** Deliberate breaks of the promises about the visitor's browser. */
export const browser: readonly Break[] = [
  {
    id: 'page-calls-any-server',
    promise: 'no foreign script runs, nobody else is called',
    effect: 'The page may send requests to any server',
    changedFile: 'src/pages/policy.ts',
    find: '[...new Set(origins)]',
    replace: "[...new Set(origins), '*']",
  },
  {
    id: 'page-framed-by-same-site',
    promise: 'nobody frames the page or redirects the form',
    effect: 'Another page of the site may frame this one',
    changedFile: 'src/pages/headers.ts',
    find: `framing = "frame-ancestors 'none'"`,
    replace: `framing = "frame-ancestors 'self'"`,
  },
  {
    id: 'form-sent-natively',
    promise: 'answers are never in an address',
    effect: 'The browser may submit the form natively on a site that does not accept that',
    changedFile: 'src/pages/policy.ts',
    find: `[postsForms ? "'self'" : "'none'"]`,
    replace: `[postsForms || "'self'"].map(() => "'self'")`,
  },
  {
    id: 'error-shown-as-html',
    promise: 'the text of an error is shown as text',
    effect: 'An error is shown as HTML',
    changedFile: 'src/pages/apply/Outcome.tsx',
    find: `<p id="outcome-text" dir="auto">
        {text}
      </p>`,
    replace: '<p id="outcome-text" dangerouslySetInnerHTML={{ __html: text }} />',
  },
  {
    id: 'operator-words-end-script',
    promise: "an operator's own words are shown as text, and their link leads to the web",
    effect: "A tag in an operator's words ends the script element with the document's data",
    changedFile: 'src/pages/document.tsx',
    find: "return json.replaceAll('<', '\\\\u003c')",
    replace: 'return json',
  },
  {
    id: 'private-answer-stored-in-tab',
    promise: 'drafts stay in the tab',
    effect: "A guest's unsent private answer is stored in the tab",
    changedFile: 'src/pages/answer/unsent.ts',
    find: 'list.filter(({ is_private }) => !is_private)',
    replace: 'list',
  },
  {
    id: 'unsent-text-kept-after-sign-out',
    promise: 'drafts stay in the tab',
    effect: 'Typed text stays in the tab after its author signs out',
    changedFile: 'src/pages/desk/kit/useUnsentText.ts',
    find: `  store(empty)
  shared.setItem`,
    replace: '  shared.setItem',
  },
  {
    id: 'visit-has-user-agent',
    promise: 'visits are counted without anything about a person',
    effect: 'A visit without a source is stored with the browser that made it',
    changedFile: 'src/server/pages/visits.ts',
    find: 'add(sourceOf(query), 1, 0)',
    replace: "add(`${sourceOf(query)}${headers['user-agent'] ?? ''}`, 1, 0)",
  },
  {
    id: 'letter-page-indexed',
    promise: "a letter's link answers nothing automatically, and its token is in no log, query or `Referer`",
    effect: 'Search engines index the page that a letter links to',
    changedFile: 'src/pages/headers.ts',
    find: "'x-robots-tag': 'noindex'",
    replace: "'x-robots-tag': 'all'",
  },
]
