/** Import: reads blocks and their traces from files of Floodgate and other programs, and checks them. */
export { FileSource, type ImportNode } from './fileSource.ts';
export { ImportThreads } from './threads.ts';
