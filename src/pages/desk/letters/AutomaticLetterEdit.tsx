import type { LettersOverview } from '../../../client/desk/letters.ts'
import { SwitchField } from '../kit/SwitchField.tsx'
import { ActProblems } from '../kit/ActProblems.tsx'
import { hrefOf } from '../data/route.ts'
import { Sheet } from '../kit/Screen.tsx'
import { useDeskAct } from '../data/useDeskAct.ts'
import { confirmation, receipt } from './letters.ts'

/** The letters that are sent automatically once organisers switch them on, by the name of their setting. */
const automaticLetters = {
  receipts: {
    occasion: receipt,
    title: 'Receipt',
    label: 'Send a receipt to each applicant',
    hint: 'Sent automatically after somebody applies: at most one a day to each address, and at most a day late.',
  },
  confirmations: {
    occasion: confirmation,
    title: 'Confirmation',
    label: 'Send a confirmation to each person who is coming',
    hint: 'Sent automatically a minute after somebody presses “I am coming”: at most one an hour to each person. It has a file for their calendar if the days of the retreat are set.',
  },
}

interface AutomaticLetterEditProps extends LettersOverview {
  setting: keyof typeof automaticLetters
}

/** The switch for letters that are sent automatically, and a link to their template. */
export function AutomaticLetterEdit({ setting, settings, postman, has_no_site }: AutomaticLetterEditProps) {
  const { occasion, title, label, hint } = automaticLetters[setting]
  const save = useDeskAct('desk_set_letters', {
    success: (saved) => `${title}s are ${saved[setting] ? 'on' : 'off'}.`,
    isSuccessOnScreen: true,
  })
  return (
    <Sheet title={title} isPart>
      <SwitchField
        label={label}
        hint={hint}
        isOn={settings[setting]}
        pending={save.isPending ? save.args?.[setting] : undefined}
        onSwitch={(isOn) => save.press({ version: null, reply_to: null, [setting]: isOn })}
      />
      {settings[setting] && !postman.is_there && (
        <p className="layout-text">No {title.toLowerCase()} is sent until this site has a mail server.</p>
      )}
      {has_no_site && setting === 'receipts' && (
        <p className="layout-text">
          The page’s address is not known, so receipts have no link to withdraw. Your operator can set
          SITE_URL.
        </p>
      )}
      <ActProblems acts={[save]} />
      <p className="layout-text">
        <a href={hrefOf({ screen: 'template', occasion })}>Edit the {title.toLowerCase()}</a>
      </p>
    </Sheet>
  )
}
