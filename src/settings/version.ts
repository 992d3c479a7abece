declare global {
  interface ImportMetaEnv {
    /** Inserted by the build. */
    readonly VERSION: string
  }
}

/** The version that this program was built from (tools/version.js). */
export const version = import.meta.env.VERSION
