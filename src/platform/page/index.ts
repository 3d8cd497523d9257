/** Pages for browsers: one way to serve their files, closed to everything else, and one look. */
export { escapeHtml } from './escapeHtml.ts';
export { htmlPage, PAGE_HEADERS, PAGE_STYLE, type PageFile, pageScript } from './pageFile.ts';
