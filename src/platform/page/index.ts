/** Security headers of pages for browsers, and a page on which users can try the operations of an API. */
export { PAGE_HEADERS } from './pageHeaders.ts';
export { PAGE_FILE_NAMES, type PageFileName, pageFile, tryItPage } from './tryItPage.ts';
