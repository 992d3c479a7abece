import { paragraphsOf } from '../../application/linked-text.ts'
import type { Look } from '../../design/look.ts'
import { Linked } from './Linked.tsx'

/** The facts and the paragraphs about the retreat; nothing if organisers wrote none. */
export function Retreat({ facts, about }: Pick<Look, 'facts' | 'about'>) {
  if (facts.length === 0 && about === '') return null
  return (
    <section className="retreat" aria-label="About the retreat">
      {facts.length > 0 && (
        <dl>
          {facts.map(({ name, value }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd dir="auto">
                <Linked text={value} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      {paragraphsOf(about).map((paragraph, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- paragraphs may be equal, and are rendered once
        <p key={index} dir="auto">
          <Linked text={paragraph} />
        </p>
      ))}
    </section>
  )
}
