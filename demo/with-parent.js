// The demonstration's server loads this by `--import`. When the parent process ends, even by a kill, the standard input
// closes, and this stops the server properly.
process.stdin.on('end', () => process.kill(process.pid, 'SIGTERM')).resume()
// After the parent's end nobody reads the output, and writing fails.
for (const output of [process.stdout, process.stderr]) output.on('error', () => {})
