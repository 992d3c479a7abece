interface NumbersTableProps {
  caption: string
  /** What the names are. */
  of: string
  rows: readonly { name: string; count: number }[]
}

/** The numbers of a plot, for who reads with ears. */
export function NumbersTable({ caption, of, rows }: NumbersTableProps) {
  return (
    <div className="visually-hidden">
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th scope="col">{of}</th>
            <th scope="col">Applications</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, count }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{count.toLocaleString('en')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
