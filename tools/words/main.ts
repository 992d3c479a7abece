/** Lists the sentences that people may have to read twice, and fails if it finds any. Part of `npm run lint`. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

import { problemsOf } from './problems.ts'
import { sentencesOf } from './sentences.ts'

/** The prefixes of exceptions: the beginning of a file's name, or a file's name with a colon and the beginning of a sentence. */
const exceptions = readFileSync('tools/words/exceptions.txt', 'utf8')
  .split('\n')
  .flatMap((line) => /^([^#\s]\S*?(?:: .+?)?) {2,}\S/.exec(line)?.[1] ?? [])

const files = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).split('\n')
const messages = files
  .filter((file) => file !== '' && !isException(file))
  .flatMap((file) =>
    sentencesOf(file, readFileSync(file, 'utf8'))
      .filter(({ words }) => !isException(`${file}: ${words}`))
      .flatMap((sentence) =>
        problemsOf(sentence.words).map(
          (problem) => `${file}:${sentence.line}: ${problem}\n    ${sentence.words}`,
        ),
      ),
  )
if (messages.length > 0) {
  console.error(messages.join('\n'))
  console.error(`\n${messages.length} sentences to read twice: CONTRIBUTING.md, “Words”, has examples.`)
  process.exitCode = 1
}

function isException(text: string) {
  return exceptions.some((prefix) => text.startsWith(prefix))
}
