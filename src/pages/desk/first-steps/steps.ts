import type { FirstStep, FirstSteps } from '../../../client/desk/retreat.ts'
import { hrefOf, unfilteredList, type Route } from '../data/route.ts'

/** A line of the checklist: the step, its words, and where to do it. */
export interface StepLine {
  step: FirstStep
  words: string
  /** The words of the link, and its address; null if the step is not done at the desk. */
  link: [words: string, href: string] | null
}

const at = (words: string, to: Route): StepLine['link'] => [words, hrefOf(to)]

/**
 * The lines of the checklist, in their order.
 *
 * @param page The address of the applicants' page.
 */
export function linesOf(
  { has_mail: hasMail, has_server: hasServer }: Pick<FirstSteps, 'has_mail' | 'has_server'>,
  page: string,
): StepLine[] {
  const lines: StepLine[] = [
    {
      step: 'days',
      words: 'Set the days of the retreat, the number of places and the time zone.',
      link: at('Days and places', { screen: 'retreat' }),
    },
    // Without a mail server, the screen Letters has no section for it.
    hasMail
      ? { step: 'mail', words: 'Check the mail server.', link: at('Letters', { screen: 'letters' }) }
      : {
          step: 'mail',
          words: 'Ask your operator for a mail server.',
          link: null,
        },
    {
      step: 'page',
      words: 'Write what the page says to applicants.',
      link: at('Page', { screen: 'page' }),
    },
    {
      step: 'questions',
      words: 'Write the questions to guests, if you have any.',
      link: at('Questions', { screen: 'questions' }),
    },
    { step: 'application', words: 'Send a test application.', link: ['Open the page', page] },
    {
      step: 'read',
      words: 'Read every template in full.',
      link: at('Templates', { screen: 'letters' }),
    },
    {
      step: 'test',
      words: 'Send yourself a test of a letter, from its template.',
      link: at('Accepted', { screen: 'template', occasion: 'accepted' }),
    },
    {
      step: 'erased',
      words: 'Decide on the test application, read its draft, and erase it.',
      link: at('Applications', unfilteredList),
    },
    {
      step: 'door',
      words: 'Choose when the form closes, and what applicants then read.',
      link: at('Door', { screen: 'door' }),
    },
    {
      step: 'notices',
      words: 'Choose whether you want emails about new applications.',
      link: at('Account', { screen: 'account' }),
    },
    { step: 'factor', words: 'Set a second factor.', link: at('Account', { screen: 'account' }) },
    {
      step: 'colleagues',
      words: 'Invite each colleague, and have them sign in once.',
      link: at('Account', { screen: 'account' }),
    },
    { step: 'backups', words: 'Ask your operator whether backups are made each day.', link: null },
    { step: 'shared', words: 'Share the page.', link: at('Days and places', { screen: 'retreat' }) },
  ]
  return lines.filter(({ step }) => step !== 'backups' || hasServer)
}

/** Whether a step is done: the database knows it, or an organiser ticked it. */
export function isDone({ done, ticked }: Pick<FirstSteps, 'done' | 'ticked'>, step: FirstStep): boolean {
  return done.includes(step) || ticked.includes(step)
}
