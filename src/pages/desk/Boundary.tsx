import { Component, type ReactNode } from 'react'

import { beginAt, focusHeading } from './focus.ts'
import { useTitle } from './title.ts'

interface BoundaryProps {
  /** Puts away what may have made it throw, before it is tried again. */
  onTryAgain?: () => void
  children: ReactNode
}

/** Keeps what throws while it is shown from taking more with it than itself. React logs what it was. */
export class Boundary extends Component<BoundaryProps, { error: unknown; hasFailed: boolean }> {
  override state = { error: undefined, hasFailed: false }

  static getDerivedStateFromError(error: unknown) {
    return { error, hasFailed: true }
  }

  override render(): ReactNode {
    const { error, hasFailed } = this.state
    return hasFailed ? <Failure error={error} onTryAgain={this.#tryAgain} /> : this.props.children
  }

  readonly #tryAgain = () => {
    this.props.onTryAgain?.()
    // The button that was pressed goes.
    this.setState({ error: undefined, hasFailed: false }, focusHeading)
  }
}

const title = 'This could not be shown'

function Failure({ error, onTryAgain }: { error: unknown; onTryAgain: () => void }) {
  useTitle(title)
  return (
    <section className="sheet">
      <h1 ref={beginAt} tabIndex={-1}>
        {title}
      </h1>
      <div role="alert" className="notice error">
        <p>Please try again. If it stays so, tell whoever runs this site: {String(error)}</p>
        <button className="quiet" onClick={onTryAgain}>
          Try again
        </button>
      </div>
    </section>
  )
}
