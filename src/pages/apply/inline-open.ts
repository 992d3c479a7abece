/** The inline script of a form that was open when its document was rendered. */
import './before-take-over.ts'
