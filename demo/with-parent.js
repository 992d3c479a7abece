// For the server of the demonstration, with --import: it ends in order when whoever started it is gone, also where that was
// killed. Their end of its standard input is closed then.
process.stdin.on('end', () => process.kill(process.pid, 'SIGTERM')).resume()
// Nobody reads on then what it says.
for (const output of [process.stdout, process.stderr]) output.on('error', () => {})
