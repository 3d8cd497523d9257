/** Pages for browsers: their security headers, and the page to try the operations of an API. */
export { PAGE_HEADERS } from './pageHeaders.ts';
export { PAGE_FILE_NAMES, type PageFileName, pageFile, tryItPage } from './tryItPage.ts';
