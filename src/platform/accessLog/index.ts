/** The access log: a line for each request in a form that tools know, written without ever waiting, and without secrets. */
export { AccessLog } from './accessLog.ts';
export { LineFile } from './lineFile.ts';
