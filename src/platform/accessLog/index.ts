/** Access log: one line per request in a standard format, without secrets, written without blocking. */
export { AccessLog } from './accessLog.ts';
export { LineFile } from './lineFile.ts';
