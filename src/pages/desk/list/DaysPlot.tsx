import type { Day } from './days.ts'
import { NumbersTable } from './NumbersTable.tsx'

const name = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
})

/** A bar for each day. */
export function DaysPlot({ days }: { days: readonly Day[] }) {
  const most = Math.max(...days.map(({ count }) => count))
  const [first, last] = [days.at(0), days.at(-1)]
  if (first === undefined || last === undefined) return null
  const caption = 'Applications a day'
  return (
    <figure>
      <figcaption>{caption}</figcaption>
      <div aria-hidden="true">
        <p className="scale">{most.toLocaleString('en')}</p>
        <svg
          className="days"
          viewBox={`0 0 ${Math.max(days.length, fewestDays)} ${most}`}
          preserveAspectRatio="none"
        >
          {days.map(({ day, count }, index) => (
            <rect key={day} x={index + 0.1} y={most - count} width={0.8} height={count}>
              <title>{`${nameOf(day)}: ${count.toLocaleString('en')}`}</title>
            </rect>
          ))}
        </svg>
        <p className="scale ends">
          <span>{nameOf(first.day)}</span>
          {last !== first && <span>{nameOf(last.day)}</span>}
        </p>
      </div>
      <NumbersTable
        caption={caption}
        of="Day"
        rows={days.map(({ day, count }) => ({ name: nameOf(day), count }))}
      />
    </figure>
  )
}

/** Of fewer the bars would be as wide as a hand. */
const fewestDays = 14

function nameOf(day: string) {
  return name.format(new Date(day))
}
