import { readFileSync } from 'node:fs';

/** A file of a page, as it is served. */
export interface PageFile {
  readonly type: string;
  readonly body: string;
}

/**
 * Only what this server itself serves may run in a page, nothing that is made of text may (Trusted Types), and the page may talk to this
 * server only.
 */
export const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; " +
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

export const htmlPage = (body: string): PageFile => ({ type: 'text/html; charset=utf-8', body });

/** A script beside the module that serves it; the build copies it to where that module is in the program. */
export const pageScript = (url: URL): PageFile => ({
  type: 'text/javascript; charset=utf-8',
  body: readFileSync(url, 'utf8'),
});

/** The look of all pages. */
export const PAGE_STYLE: PageFile = {
  type: 'text/css; charset=utf-8',
  body: readFileSync(new URL('./style/page.css', import.meta.url), 'utf8'),
};
