/**
 * Reads a table in the format of RFC 4180.
 *
 * @returns The names in its first line, and each row's cells by these names.
 */
export function readCsv(csv: string): { header: string[]; rows: Record<string, string>[] } {
  const lines: string[][] = [[]]
  for (const [, quoted, plain, end] of csv
    .replace(/^\ufeff/, '')
    .matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    lines.at(-1)?.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'))
    if (end === '\r\n') lines.push([])
  }
  const [header = [], ...rows] = lines.slice(0, -1)
  return {
    header,
    rows: rows.map((row) => Object.fromEntries(row.map((cell, index) => [header[index] ?? '', cell]))),
  }
}
