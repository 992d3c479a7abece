// The build writes it into the program: what runs says which version it was built from.
const files = import.meta.glob<string>('/package.json', { import: 'version', eager: true })

/** The version of this program, as package.json has it. */
export const version = files['/package.json'] ?? ''
