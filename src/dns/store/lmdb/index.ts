export { DnsStore } from './dnsStore.ts';
