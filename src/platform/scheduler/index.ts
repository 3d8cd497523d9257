/** The processor time of the process, divided among its clients. */
export { Scheduler } from './scheduler.ts';
