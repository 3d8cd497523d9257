/** UDP receiver threads: computes how many to use, and starts them before their configuration is known. */
export { cannotSharePort, threadsFor } from './sharePort.ts';
export { acquireThread, prestartThreads } from './threads.ts';
