/**
 * The `lookup` of sockets that are only given addresses: there is nothing to look up, and not looking up saves a tick of
 * the loop, and every wait for a resolver.
 */
export const noLookup = (
  host: string,
  _options: unknown,
  callback: (error: null, address: string, family: number) => void,
): void => callback(null, host, host.includes(':') ? 6 : 4);
