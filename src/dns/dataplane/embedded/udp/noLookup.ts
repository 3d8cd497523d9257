/** Replaces dns.lookup() in sockets with IP addresses only, which saves an event-loop tick. */
export const noLookup = (
  host: string,
  _options: unknown,
  callback: (error: null, address: string, family: number) => void,
): void => callback(null, host, host.includes(':') ? 6 : 4);
