import { OperatorError, runProgram } from '../settings/operator-error.ts'
import { handleOutputErrors } from './output.ts'

/** A command, which `npm run` runs by its file's name. */
interface Command {
  run: () => Promise<void>
}

const files = import.meta.glob<Command>('./commands/*.ts')
const commands = new Map(
  Object.entries(files).map(([path, load]) => [path.replace(/^.*\/(.*)\.ts$/, '$1'), load]),
)

handleOutputErrors()
await runProgram(async () => {
  const [name = ''] = process.argv.splice(2, 1)
  const load = commands.get(name)
  if (load === undefined) {
    throw new OperatorError(
      `There is no command "${name}". The commands are ${[...commands.keys()].join(', ')}. To start the server, give no command: its settings come from the environment (docs/operate.md).`,
    )
  }
  const command = await load()
  await command.run()
})
