declare global {
  interface ImportMetaEnv {
    /** Inserted by the build. */
    readonly VERSION: string
  }
}

/** The version of the sources that this program was built from, see tools/version.js. */
export const version = import.meta.env.VERSION
