// Runs a TypeScript file of the development tools, because Node.js 20 cannot run TypeScript: node tools/run.js <file> [...]
import { resolve } from 'node:path'
import { runnerImport } from 'vite'

const [file = ''] = process.argv.splice(2, 1)
await runnerImport(resolve(file), { configFile: false, envDir: false, logLevel: 'warn' })
