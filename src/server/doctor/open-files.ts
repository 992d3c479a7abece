import { notKnown, ok, wrong } from '../finding.ts'
import { mostConnections, openFilesProblem } from '../open-files.ts'
import type { Responses } from './site.ts'

/** Checks that the running server may open enough files. The limit of this process may be another. */
export function checkOpenFiles({ here }: Responses) {
  const { openFiles } = here === undefined || 'problem' in here.health ? {} : here.health.body
  if (typeof openFiles !== 'number') return notKnown('No server here says how many files it may open.')
  const problem = openFilesProblem(openFiles)
  return problem === undefined
    ? ok(
        `The server may open ${openFiles} files, and serves ${mostConnections(openFiles)} connections at a time.`,
      )
    : wrong(problem)
}
