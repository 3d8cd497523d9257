/** Threads that receive DNS: how many, and started ahead of their task. */
export { cannotSharePort, threadsFor } from './sharePort.ts';
export { startThreadsAhead, takeThread } from './threads.ts';
