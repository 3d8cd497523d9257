/** Threads that serve DNS: determines their number, and starts them before their configuration is known. */
export { cannotSharePort, threadsFor } from './sharePort.ts';
export { acquireThread, prestartThreads } from './threads.ts';
