/** What the guard has learned and counted, on LMDB. */
export { DnsStore } from './dnsStore.ts';
