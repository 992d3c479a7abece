import { Fragment, type CSSProperties } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'

import { palettesWith } from '../../design/accent.ts'
import type { Look } from '../../design/look.ts'
import type { Palette } from '../../design/palette.ts'
import type { Paragraph } from './paragraphs.ts'

/** The title and the accent colour of emails. */
export type MailLook = Pick<Look, 'title' | 'accent'>

/** The content of an email. */
export interface MailContent {
  paragraphs: readonly Paragraph[]
  /** The language of the paragraphs; blank if it is unknown. */
  lang: 'en' | ''
  /** The last lines: why the recipient gets the email. */
  why: Paragraph
}

/**
 * Renders an email as HTML. Its styles are inline. The style element only adds dark mode, so that programs which drop it show
 * the whole layout in light mode. React escapes all texts and addresses.
 */
export function renderMail({ paragraphs, lang, why }: MailContent, { title, accent }: MailLook): string {
  const palettes = palettesWith(accent)
  const colours = coloursOf(palettes.light)
  return `<!doctype html>${renderToStaticMarkup(
    <html lang={lang}>
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <meta name="color-scheme" content="light dark" />
        <meta name="supported-color-schemes" content="light dark" />
        <meta name="format-detection" content="telephone=no" />
        <title>{title}</title>
        <style dangerouslySetInnerHTML={{ __html: darkStyle(coloursOf(palettes.dark)) }} />
      </head>
      <body className="page" style={{ margin: 0, ...colours.page }}>
        {/* Some programs replace the body, so its colour is on an element inside, too. */}
        <div className="page" style={{ padding: '24px 12px', ...colours.page }}>
          {/* Outlook ignores the greatest width, and other programs the width beyond it. */}
          <table {...layout} align="center" width={560} style={{ maxWidth: '100%', tableLayout: 'fixed' }}>
            <tbody>
              <tr>
                <td className="card" style={{ ...cardStyle, ...colours.card }}>
                  <h1 dir="auto" className="ink" style={{ ...titleStyle, ...colours.ink }}>
                    {title}
                  </h1>
                  {paragraphs.map((paragraph, index) => (
                    <Block key={index} {...paragraph} tone="ink" colours={colours} />
                  ))}
                  <div lang="en" className="quiet" style={{ ...whyStyle, ...colours.quiet }}>
                    <Block {...why} tone="quiet" colours={colours} />
                  </div>
                </td>
              </tr>
            </tbody>
          </table>
        </div>
      </body>
    </html>,
  )}\n`
}

interface BlockProps extends Paragraph {
  tone: 'ink' | 'quiet'
  colours: Colours
}

/** A paragraph: its code, its text, and its link with its address, in the direction of the text. */
function Block({ code, text, link, button, tone, colours }: BlockProps) {
  const style = { ...(tone === 'ink' ? textStyle : smallStyle), ...colours[tone] }
  return (
    <div dir="auto">
      {code !== undefined && (
        <p className={tone} style={{ ...codeStyle, ...colours[tone] }}>
          {code}
        </p>
      )}
      {text !== undefined && text !== '' && (
        <p className={tone} style={style}>
          {text.split('\n').map((line, index) => (
            <Fragment key={index}>
              {index > 0 && <br />}
              {line}
            </Fragment>
          ))}
        </p>
      )}
      {link !== undefined && button !== undefined && (
        <table {...layout} style={{ margin: '0 0 12px' }}>
          <tbody>
            <tr>
              {/* Outlook ignores the padding of a link, and takes the one of its cell. */}
              <td className="button" style={{ ...buttonCellStyle, ...colours.button }}>
                <a href={link} lang="en" className="button" style={{ ...buttonStyle, ...colours.button }}>
                  {button}
                </a>
              </td>
            </tr>
          </tbody>
        </table>
      )}
      {link !== undefined && (
        <p style={{ ...smallStyle, wordBreak: 'break-all' }}>
          <a href={link} dir="ltr" className="quiet" style={colours.quiet}>
            {link}
          </a>
        </p>
      )}
    </div>
  )
}

const layout = { role: 'presentation', border: 0, cellPadding: 0, cellSpacing: 0 }

const textFont = 'Segoe UI, system-ui, -apple-system, Helvetica, Arial, sans-serif'
const cardStyle: CSSProperties = { padding: '28px 20px 12px', borderTop: '4px solid', borderRadius: 6 }
const titleStyle: CSSProperties = {
  margin: '0 0 20px',
  font: '28px/1.2 Iowan Old Style, Palatino Linotype, Palatino, Georgia, serif',
  overflowWrap: 'break-word',
}
const textStyle: CSSProperties = {
  margin: '0 0 16px',
  font: `16px/1.5 ${textFont}`,
  overflowWrap: 'break-word',
}
const smallStyle: CSSProperties = { ...textStyle, font: `14px/1.5 ${textFont}` }
const codeStyle: CSSProperties = {
  margin: '0 0 16px',
  font: 'bold 40px/1.2 Consolas, Menlo, Courier New, monospace',
  letterSpacing: 6,
}
const whyStyle: CSSProperties = { marginTop: 28, paddingTop: 16, borderTop: '1px solid' }
const buttonCellStyle = { borderRadius: 6, msoPaddingAlt: '12px 28px' } as CSSProperties
const buttonStyle: CSSProperties = {
  display: 'inline-block',
  padding: '12px 28px',
  borderRadius: 6,
  font: `bold 16px/1.25 ${textFont}`,
  textDecoration: 'none',
}

/** The colours of each class. */
function coloursOf(palette: Palette) {
  return {
    page: { backgroundColor: palette.sky },
    card: { backgroundColor: palette.paper, borderColor: palette.ember },
    ink: { color: palette.ink },
    quiet: { color: palette['ink-quiet'], borderColor: palette.line },
    button: { backgroundColor: palette.ember, color: palette['on-ember'] },
  }
}

type Colours = ReturnType<typeof coloursOf>

/** Overrides the inline colours in dark mode. */
function darkStyle(colours: Colours) {
  const rules = Object.entries(colours).map(([name, style]) => {
    const declarations = Object.entries(style).map(([property, value]) => {
      const hyphenated = property.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
      return `${hyphenated}:${value}!important`
    })
    return `.${name}{${declarations.join(';')}}`
  })
  return `@media(prefers-color-scheme:dark){${rules.join('')}}`
}
