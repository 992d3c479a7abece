// An `--import` for the demonstration's server. It stops the server in order after its parent ended, even by a kill: the parent's
// end closes the standard input.
process.stdin.on('end', () => process.kill(process.pid, 'SIGTERM')).resume()
// Nobody reads the output after that.
for (const output of [process.stdout, process.stderr]) output.on('error', () => {})
