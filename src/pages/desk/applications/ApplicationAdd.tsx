import { useQuery } from '@tanstack/react-query'
import { Fragment, useState } from 'react'

import { maxLengthOf, paidSolutions, teamSizes, type Application } from '../../../application/application.ts'
import { questions, textFields } from '../../../application/fields.ts'
import { statuses } from '../../../application/statuses.ts'
import type { AddedPerson } from '../../../client/desk/applications.ts'
import { filtersFrom } from '../data/filters.ts'
import { nameOf } from '../data/names.ts'
import { go, hrefOf } from '../data/route.ts'
import { useDesk } from '../data/useDesk.tsx'
import { useDeskAct } from '../data/useDeskAct.ts'
import { Dialog } from '../kit/Dialog.tsx'
import { DialogForm } from '../kit/DialogForm.tsx'
import { Choice, Field, TextField } from '../kit/Field.tsx'
import { focus } from '../kit/focus.ts'
import { Tick } from '../kit/Tick.tsx'

type Person = Omit<Application, 'consent'>

const blankPerson: Person = {
  first_name: '',
  last_name: '',
  email: '',
  phone: '',
  linkedin: '',
  company: '',
  paid_solution: '',
  custom_solution: '',
  team_size: '',
  reason: '',
}

/** A dialog that adds a person who did not apply, such as somebody who is invited. */
export function ApplicationAdd() {
  return <Dialog button="Add a person">{(close) => <AddForm close={close} />}</Dialog>
}

function AddForm({ close }: { close: () => void }) {
  const { data: overview } = useQuery(useDesk().letters())
  const [person, setPerson] = useState(blankPerson)
  const [receipt, setReceipt] = useState(false)
  const [webhook, setWebhook] = useState(false)
  const enter = (change: Partial<Person>) => setPerson({ ...person, ...change })
  const name = nameOf({ ...person, id: '' })
  const add = useDeskAct('desk_add', {
    success({ application, receipt: isReceiptSent }, args) {
      if (application === null) return 'Not added: this email is here already'
      return args.receipt && !isReceiptSent
        ? `${name}: added. No receipt can be sent there today.`
        : `${name}: added`
    },
    onSuccess({ application: id }) {
      if (id === null) return
      close()
      go({ screen: 'application', id, filters: filtersFrom('') })
    },
  })
  // Those with the email that was sent. Another email has to be looked for again.
  const others = add.args?.person.email === person.email.trim() ? (add.response?.others ?? []) : []
  const isThere = others.length > 0
  return (
    <DialogForm
      title="Add a person"
      button={isThere ? 'Add anyway' : 'Add'}
      act={add}
      close={close}
      onSend={() =>
        add.press({ person: { ...person, email: person.email.trim() }, again: isThere, receipt, webhook })
      }
    >
      <p>
        For somebody who did not apply. The application says that you added them, in place of their consent.
        Only the first name and the email are required.
      </p>
      {textFields.map(({ name: field, label, type }, index) => (
        <Fragment key={field}>
          <Field
            {...{ label, type }}
            required={field === 'first_name' || field === 'email'}
            takesFocus={index === 0}
            autoComplete="off"
            maxLength={maxLengthOf(field)}
            value={person[field]}
            onText={(text) => enter({ [field]: text })}
          />
          {field === 'email' && isThere && <Others others={others} />}
        </Fragment>
      ))}
      <Choice
        label={questions.paid_solution}
        options={[['', 'No answer'], ...optionsOf(paidSolutions)]}
        value={person.paid_solution}
        onChoose={(paid_solution) => enter({ paid_solution })}
      />
      {person.paid_solution === 'custom' && (
        <Field
          label="Custom answer"
          autoComplete="off"
          maxLength={maxLengthOf('custom_solution')}
          value={person.custom_solution}
          onText={(custom_solution) => enter({ custom_solution })}
        />
      )}
      <Choice
        label={questions.team_size}
        options={[['', 'No answer'], ...optionsOf(teamSizes)]}
        value={person.team_size}
        onChoose={(team_size) => enter({ team_size })}
      />
      <TextField
        label={questions.reason}
        rows={5}
        maxLength={maxLengthOf('reason')}
        value={person.reason}
        onText={(reason) => enter({ reason })}
      />
      {overview?.postman.is_there && (
        <Tick isOn={receipt} onTick={setReceipt}>
          Send them a receipt
        </Tick>
      )}
      {overview?.postman.is_webhook_there && (
        <Tick isOn={webhook} onTick={setWebhook}>
          Pass them on to the connected system
        </Tick>
      )}
    </DialogForm>
  )
}

/** The people with the same email, who may be the same person. */
function Others({ others }: Pick<AddedPerson, 'others'>) {
  return (
    // The button is far from the email, which may be out of sight.
    <div ref={focus} tabIndex={-1} className="layout-notice error" role="alert">
      <p>This email is here already:</p>
      <ul>
        {others.map((other) => (
          <li key={other.id}>
            {/* In another tab, since leaving the screen would discard what was typed. */}
            <a
              href={hrefOf({ screen: 'application', id: other.id, filters: filtersFrom('') })}
              target="_blank"
            >
              <bdi>{nameOf(other)}</bdi>
            </a>
            , {statuses[other.status]}
          </li>
        ))}
      </ul>
    </div>
  )
}

function optionsOf<Value extends string>(labels: Record<Value, string>) {
  return Object.entries(labels) as [Value, string][]
}
