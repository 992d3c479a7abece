// Runs a TypeScript file of the development tools, which Node.js 20 cannot do by itself: node tools/run.js <file> [...]
import { resolve } from 'node:path'
import { runnerImport } from 'vite'

const [file = ''] = process.argv.splice(2, 1)
await runnerImport(resolve(file), { configFile: false, envDir: false, logLevel: 'warn' })
