/**
 * Runs `work` after the packets that have already arrived were read. After a blocked event loop, timers fire before
 * that, so a timeout would count answers as missing that only wait to be read. A DNS server in this process (`floodgate
 * dev`) needs the first of the two iterations of the event loop to answer.
 */
export function afterReads(work: () => void): void {
  setImmediate(() => setImmediate(work));
}
