/** Replaces dns.lookup() for sockets that use only IP addresses. This saves an iteration of the event loop. */
export const noLookup = (
  host: string,
  _options: unknown,
  callback: (error: null, address: string, family: number) => void,
): void => callback(null, host, host.includes(':') ? 6 : 4);
